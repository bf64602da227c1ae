import numpy as np
import matplotlib.pyplot as plt
from scipy import signal

# Find the frequencies in a noisy signal
fs, dur = 200, 4
rng = np.random.default_rng(14)
t = np.arange(0, dur, 1 / fs)
x = 1.5 * np.sin(2 * np.pi * 5 * t) + 0.7 * np.sin(2 * np.pi * 23 * t + 1) + rng.normal(0, 0.5, t.size)

spec = np.abs(np.fft.rfft(x)) / t.size * 2
freq = np.fft.rfftfreq(t.size, 1 / fs)
peaks, props = signal.find_peaks(spec, height=0.3)
for p, h in zip(peaks, props["peak_heights"]):
    print(f"{freq[p]:5.2f} Hz amplitude {h:.2f}")

b, a = signal.butter(4, 10, fs=fs)
low = signal.filtfilt(b, a, x)
clean = 1.5 * np.sin(2 * np.pi * 5 * t)
print("RMS error raw %.3f, filtered %.3f" % tuple(np.sqrt(np.mean((s - clean) ** 2)) for s in (x, low)))

f, pxx = signal.welch(x, fs, nperseg=256)
print("Welch peak:", f[pxx.argmax()].round(2), "Hz")
print("Parseval:", np.isclose(np.sum(x ** 2), np.sum(np.abs(np.fft.fft(x)) ** 2) / t.size))
kernel = np.ones(9) / 9
print("Smoothed sd:", np.convolve(x, kernel, mode="valid").std().round(3), signal.savgol_filter(x, 15, 3).std().round(3))

fig, (a1, a2) = plt.subplots(2)
a1.plot(t, x, lw=0.5); a1.plot(t, low)
a2.semilogy(freq, spec)
fig.savefig("spectrum.png")
