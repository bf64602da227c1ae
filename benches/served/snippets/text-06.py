import textwrap
from string import Template

LETTER = Template("""\
Dear $name,

thank you for your order of $count item$plural. The total of your order is $total.
We have shipped the package to $city, and it should arrive on or before $date.

Kind regards
The Team""")

orders = [
    {"name": "Ms. Okafor", "count": 1, "total": 19.9, "city": "Graz", "date": "3 June"},
    {"name": "Mr. Silva", "count": 4, "total": 1249.5, "city": "Linz", "date": "5 June"},
]

for i, order in enumerate(orders):
    body = LETTER.substitute(
        order | {"plural": "" if order["count"] == 1 else "s", "total": f"€{order['total']:,.2f}"}
    )
    paragraphs = body.split("\n\n")
    wrapped = "\n\n".join(textwrap.fill(p.replace("\n", " "), width=50) for p in paragraphs)
    filename = f"letter_{i + 1}.txt"
    with open(filename, "w", encoding="utf-8") as f:
        f.write(wrapped)
    print(f"--- {filename} ---")
    print(textwrap.indent(wrapped, "| "))
