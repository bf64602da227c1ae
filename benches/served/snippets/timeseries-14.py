import numpy as np
import pandas as pd
from scipy.signal import find_peaks, periodogram, savgol_filter

rng = np.random.default_rng(123)
fs = 50  # Hz
t = np.arange(0, 10, 1 / fs)
signal = 2.0 * np.sin(2 * np.pi * 1.2 * t) + 0.8 * np.sin(2 * np.pi * 4 * t) + rng.normal(0, 0.3, t.size)

# Dominant frequencies
freqs, power = periodogram(signal, fs)
top = np.argsort(power)[::-1][:2]
print("Dominant frequencies (Hz):", sorted(round(float(f), 2) for f in freqs[top]))

# Smooth and detect peaks
smooth = savgol_filter(signal, window_length=21, polyorder=3)
peaks, props = find_peaks(smooth, height=1.0, distance=fs // 2)
intervals = np.diff(t[peaks])
print(f"{len(peaks)} peaks, mean interval {intervals.mean():.3f} s, cv {intervals.std() / intervals.mean():.2f}")

table = pd.DataFrame({"time_s": t[peaks], "height": props["peak_heights"]}).round(2)
print(table.head())
print("Noise reduction (std of difference): {:.2f}".format(np.std(signal - smooth)))
