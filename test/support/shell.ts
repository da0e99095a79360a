import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A program's exit code and output. */
export interface ShellResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** A shell that runs programs, one after the other. */
export interface Shell {
  /** Runs a program by its name, with a text as its input. Default: an empty one. */
  run(program: string, args: readonly string[], input?: string): Promise<ShellResult>;
  /** Ends the shell; kills it if a program is still running. */
  stop(): Promise<void>;
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Starts a shell. A test process is so large that starting another process takes it ten milliseconds of CPU time, and
 * the shell less than one: useful where a file starts dozens.
 */
export function startShell(env: NodeJS.ProcessEnv): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'shell-'));
  const child: ChildProcess = spawn('sh', [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const file = (name: string) => join(folder, name);
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  // When the shell has exited, its output ends, too.
  child.stdin!.on('error', () => {});
  let before: Promise<unknown> = Promise.resolve();
  let running = 0;

  async function run(program: string, args: readonly string[], input: string): Promise<ShellResult> {
    writeFileSync(file('in'), input);
    const command = [program, ...args].map(quoted).join(' ');
    child.stdin!.write(`${command} <${quoted(file('in'))} >${quoted(file('out'))} 2>${quoted(file('err'))}; echo $?\n`);
    const { value, done } = await answers.next();
    if (done === true) {
      throw new Error(`the shell ended before ${program} did`);
    }
    return {
      code: Number(value),
      stdout: readFileSync(file('out'), 'utf8'),
      stderr: readFileSync(file('err'), 'utf8'),
    };
  }
  return {
    run(program, args, input = '') {
      running++;
      const result = before.then(() => run(program, args, input)).finally(() => running--);
      before = result.catch(() => {});
      return result;
    },
    async stop() {
      if (running > 0) {
        child.kill('SIGKILL');
      }
      child.stdin!.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
