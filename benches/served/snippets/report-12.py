from decimal import Decimal, ROUND_HALF_UP
from enum import Enum
from typing import NamedTuple


class Vat(Enum):
    STANDARD = Decimal("0.20")
    REDUCED = Decimal("0.10")


class Line(NamedTuple):
    text: str
    qty: int
    price: Decimal
    vat: Vat


def money(x: Decimal) -> Decimal:
    return x.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


lines = [
    Line("Consulting (hours)", 12, Decimal("95.50"), Vat.STANDARD),
    Line("Handbook", 3, Decimal("19.90"), Vat.REDUCED),
    Line("Licence", 1, Decimal("249.00"), Vat.STANDARD),
]

print(f"{'INVOICE 2024-0042':^58}")
for l in lines:
    print(f"{l.text:<24}{l.qty:>5} x {l.price:>9} = {money(l.qty * l.price):>12}")

net = sum((l.qty * l.price for l in lines), Decimal(0))
print(f"{'Net':<41}= {money(net):>12}")
gross = net
for rate in Vat:
    tax = money(sum((l.qty * l.price * rate.value for l in lines if l.vat is rate), Decimal(0)))
    gross += tax
    print(f"{f'VAT {rate.value:.0%}':<41}= {tax:>12}")
print(f"{'Total':<41}= {money(gross):>12}")
