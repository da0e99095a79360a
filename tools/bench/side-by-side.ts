import { load, openConnections } from './load.ts';
import { median, type Program } from './program.ts';

/** One round against one server. */
export interface Measured {
  /** CPU time of the server for each request: unlike the others, not much changed by other load on the machine. */
  cpuMicroseconds: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** Two adjacent rounds. */
export interface Pair {
  ours: Measured;
  bare: Measured;
}

/**
 * Sends the same request to two servers by turns, on connections that stay open. Many short rounds are better than a
 * few long ones: a machine that changes its speed then changes it for both.
 */
export async function sideBySide(
  ours: Program,
  bare: Program,
  {
    request,
    callers,
    rounds,
    milliseconds,
  }: Record<'callers' | 'rounds' | 'milliseconds', number> & { request: Buffer },
): Promise<Pair[]> {
  const connections = new Map([
    [ours, await openConnections(ours.webhookPort, callers)],
    [bare, await openConnections(bare.webhookPort, callers)],
  ]);
  async function measure(program: Program): Promise<Measured> {
    const before = program.cpuMs();
    const { requestsPerSecond, latencies } = await load(connections.get(program) ?? [], request, milliseconds);
    const cpuMs = program.cpuMs() - before;
    const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    return {
      cpuMicroseconds: (cpuMs * 1000) / latencies.length,
      perSecond: requestsPerSecond,
      p50: percentile(0.5),
      p99: percentile(0.99),
    };
  }
  await measure(ours);
  await measure(bare);
  const pairs: Pair[] = [];
  for (let i = 0; i < rounds; i++) {
    // Each goes first equally often.
    if (i % 2 === 0) {
      pairs.push({ ours: await measure(ours), bare: await measure(bare) });
    } else {
      const first = await measure(bare);
      pairs.push({ ours: await measure(ours), bare: first });
    }
  }
  for (const socket of [...connections.values()].flat()) {
    socket.destroy();
  }
  return pairs;
}

/** Our figure divided by the bare one in every pair: the median of these is more stable than the ratio of medians. */
export const ratios = (pairs: readonly Pair[], key: keyof Measured): number[] =>
  pairs.map(({ ours, bare }) => ours[key] / bare[key]);

/** Three cells of a table: both medians, and the median of the ratios. */
export const cells = (pairs: readonly Pair[], key: keyof Measured, digits: number): string[] => [
  median(pairs.map(({ ours }) => ours[key])).toFixed(digits),
  median(pairs.map(({ bare }) => bare[key])).toFixed(digits),
  median(ratios(pairs, key)).toFixed(2),
];
