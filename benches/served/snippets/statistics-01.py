import numpy as np
from scipy import stats

rng = np.random.default_rng(42)
control = rng.normal(100, 15, 80)
treated = rng.normal(107, 18, 75)

# Check assumptions, then choose the test
for name, g in (("control", control), ("treated", treated)):
    w, p = stats.shapiro(g)
    print(f"{name}: n={len(g)} mean={g.mean():.2f} sd={g.std(ddof=1):.2f} Shapiro p={p:.3f}")

lev = stats.levene(control, treated)
equal_var = lev.pvalue > 0.05
print(f"Levene p={lev.pvalue:.3f} -> equal_var={equal_var}")

t = stats.ttest_ind(treated, control, equal_var=equal_var)
u = stats.mannwhitneyu(treated, control, alternative="two-sided")
pooled = np.sqrt((control.var(ddof=1) + treated.var(ddof=1)) / 2)
d = (treated.mean() - control.mean()) / pooled

print(f"t = {t.statistic:.3f}, df = {t.df:.1f}, p = {t.pvalue:.4f}")
ci = t.confidence_interval(0.95)
print(f"95% CI of the difference: [{ci.low:.2f}, {ci.high:.2f}]")
print(f"Mann-Whitney U = {u.statistic:.0f}, p = {u.pvalue:.4f}")
print(f"Cohen's d = {d:.3f}")
print("Significant" if t.pvalue < 0.05 else "Not significant")
