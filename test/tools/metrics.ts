/** The value of a metric by its whole name, with labels as they are printed; NaN when the health port has none. */
export async function metricAt(health: string, name: string): Promise<number> {
  const text = await (await fetch(`${health}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}
