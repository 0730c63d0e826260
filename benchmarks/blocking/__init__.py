"""How long what one visitor starts can hold up another: `python -m benchmarks.blocking`."""
