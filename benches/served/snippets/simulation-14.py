import random
import statistics as st

# Gambler's ruin and betting strategies
def play(strategy, bankroll=100, target=200, p=0.48, seed=0, max_rounds=5000):
    rng = random.Random(seed)
    bet_state = {"last": 1, "lost": False}
    for rounds in range(max_rounds):
        if bankroll <= 0 or bankroll >= target:
            break
        bet = min(strategy(bankroll, bet_state), bankroll)
        won = rng.random() < p
        bankroll += bet if won else -bet
        bet_state["last"], bet_state["lost"] = bet, not won
    return bankroll, rounds

flat = lambda b, s: 10
fractional = lambda b, s: max(1, b // 10)

def martingale(b, s):
    return s["last"] * 2 if s["lost"] else 5

for name, strat in {"flat": flat, "fractional": fractional, "martingale": martingale}.items():
    outcomes = [play(strat, seed=i) for i in range(400)]
    finals = [o[0] for o in outcomes]
    rounds = [o[1] for o in outcomes]
    success = sum(f >= 200 for f in finals) / len(finals)
    ruined = sum(f <= 0 for f in finals) / len(finals)
    print(f"{name:<11} success={success:.2%} ruin={ruined:.2%} median rounds={st.median(rounds):.0f} mean final={st.mean(finals):.1f}")
