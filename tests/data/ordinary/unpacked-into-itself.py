defaults = {"alpha": 1}
defaults = {**defaults, "beta": 2}


def merged(settings={}):
    settings = {**settings, **defaults, "gamma": 3}
    for key, value in settings.items():
        print(key, value)
    return settings


copied = merged()
copied = {**copied.copy(), "delta": 4}
print(sorted(copied))
