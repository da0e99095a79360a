/** The value of a metric by its full name, with labels as they are printed; NaN if the health port does not have it. */
export async function metricAt(health: string, name: string): Promise<number> {
  return (await metricsAt(health, [name]))[0] as number;
}

/** The same of several metrics, read at once. */
export async function metricsAt(health: string, names: readonly string[]): Promise<number[]> {
  const lines = (await (await fetch(`${health}/metrics`)).text()).split('\n');
  return names.map((name) => {
    const line = lines.find((candidate) => candidate.startsWith(`${name} `));
    return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
  });
}
