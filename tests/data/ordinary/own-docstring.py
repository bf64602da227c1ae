"""Summarise."""
import argparse

parser = argparse.ArgumentParser(description=__doc__)
print(parser.description)
