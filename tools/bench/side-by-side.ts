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

/** Adjacent rounds, one against each server. */
export type Turn = readonly Measured[];

/**
 * Sends the same request to several servers by turns, on connections that stay open. Many short rounds are better than a
 * few long ones: a machine that changes its speed then changes it for all.
 */
export async function sideBySide(
  programs: readonly Program[],
  {
    request,
    callers,
    rounds,
    milliseconds,
  }: Record<'callers' | 'rounds' | 'milliseconds', number> & { request: Buffer },
): Promise<Turn[]> {
  const servers = await Promise.all(
    programs.map(async (program) => ({ program, connections: await openConnections(program.webhookPort, callers) })),
  );
  async function measure({ program, connections }: (typeof servers)[number]): Promise<Measured> {
    const before = program.cpuMs();
    const { requestsPerSecond, latencies } = await load(connections, request, milliseconds);
    const cpuMs = program.cpuMs() - before;
    const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    return {
      cpuMicroseconds: (cpuMs * 1000) / latencies.length,
      perSecond: requestsPerSecond,
      p50: percentile(0.5),
      p99: percentile(0.99),
    };
  }
  async function turn(isReversed: boolean): Promise<Turn> {
    const measured: Measured[] = [];
    for (const server of isReversed ? servers.toReversed() : servers) {
      measured.push(await measure(server));
    }
    return isReversed ? measured.toReversed() : measured;
  }
  await turn(false);
  const turns: Turn[] = [];
  for (let i = 0; i < rounds; i++) {
    // Each goes first equally often.
    turns.push(await turn(i % 2 === 1));
  }
  for (const socket of servers.flatMap(({ connections }) => connections)) {
    socket.destroy();
  }
  return turns;
}

/** The figure of the first server divided by that of another in every turn: the median of these is more stable than the ratio of medians. */
const ratios = (turns: readonly Turn[], key: keyof Measured, other: number): number[] =>
  turns.map((turn) => (turn[0] as Measured)[key] / (turn[other] as Measured)[key]);

/** Cells of a table: the median of the first server, and of its ratio to each other one. */
export const cells = (turns: readonly Turn[], key: keyof Measured, digits: number): string[] => [
  median(turns.map((turn) => (turn[0] as Measured)[key])).toFixed(digits),
  ...(turns[0] ?? []).slice(1).map((_, index) => median(ratios(turns, key, index + 1)).toFixed(2)),
];
