/** The value of a metric by its full name, with labels as they are printed; NaN if the health port does not have it. */
export async function metricAt(health: string, name: string): Promise<number> {
  const text = await (await fetch(`${health}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}
