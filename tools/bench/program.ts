import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The built program; `npm run build` makes it. */
export const builtProgram = fileURLToPath(new URL('../../dist/extensionconfig-webhook/main.js', import.meta.url));

/** A server in a process of its own. */
export interface Program {
  pid: number;
  webhookPort: number;
  healthPort: number;
  /** CPU time in milliseconds so far, as `cpuMsOf`. */
  cpuMs(): number;
  /** Resident memory in MiB; NaN where there is no /proc. */
  residentMiB(): number;
  stop(): Promise<void>;
}

function procfs(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** CPU time in ms of all threads of a process; NaN where there is no /proc. Threads that have ended do not count. */
export function cpuMsOf(pid: number): number {
  try {
    // The first number of schedstat is nanoseconds; /proc/PID/stat has hundredths of a second only.
    const threads = readdirSync(`/proc/${pid}/task`).map((id) => procfs(pid, `task/${id}/schedstat`));
    return threads.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
  } catch {
    return Number.NaN;
  }
}

/** Starts a server with node; resolves when it reports that it listens. */
export async function startProgram(args: readonly string[]): Promise<Program> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const listening = await new Promise<{ webhookPort: number; healthPort: number }>((resolve, reject) => {
    exited.then(([code]) => reject(new Error(`${args.join(' ')} ended with ${code}`)), reject);
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const entry = JSON.parse(line) as { msg?: string; webhookPort: number; healthPort: number };
      if (entry.msg === 'listening') {
        resolve(entry);
      }
    });
  });
  const pid = child.pid!;
  return {
    pid,
    webhookPort: listening.webhookPort,
    healthPort: listening.healthPort,
    cpuMs: () => cpuMsOf(pid),
    residentMiB: () => Number(/VmRSS:\s+(\d+) kB/.exec(procfs(pid, 'status'))?.[1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

/** Prints rows in columns: the first one left-aligned, the others right-aligned. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}
