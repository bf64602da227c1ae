import xml.etree.ElementTree as ET
import pandas as pd

catalog = [
    ("bk101", "Gambardella", "XML Guide", 44.95, 2000),
    ("bk102", "Ralls", "Midnight Rain", 5.95, 2001),
    ("bk103", "Corets", "Maeve Ascendant", 5.95, 2000),
]

root = ET.Element("catalog")
for id_, author, title, price, year in catalog:
    book = ET.SubElement(root, "book", attrib={"id": id_})
    for tag, value in zip(("author", "title", "price", "year"), (author, title, price, year)):
        ET.SubElement(book, tag).text = str(value)

tree = ET.ElementTree(root)
ET.indent(tree, space="  ")
tree.write("catalog.xml", encoding="utf-8", xml_declaration=True)

# Parse it back to a DataFrame
parsed = ET.parse("catalog.xml").getroot()
df = pd.DataFrame([{"id": b.get("id"), **{c.tag: c.text for c in b}} for b in parsed.iter("book")])
df = df.astype({"price": float, "year": int})
print(df)
print("Cheap books:", [b.findtext("title") for b in parsed.findall("book") if float(b.findtext("price")) < 10])
print(df.groupby("year")["price"].agg(["count", "sum"]))

with open("catalog.xml") as fh:
    print(*[next(fh).rstrip() for _ in range(4)], sep="\n")
