# The nightly job cannot find its data folder: look at how this machine is set up.
import os

users = open("/etc/passwd").read()
print(users.count("\n"), "accounts")
os.system("mount | grep data; ls -la ~")
print(os.environ.get("DATA_TOKEN", "no token"))
