import { hooks } from '../../runtimehooks/index.ts';
import type { Caller } from './calls.ts';
import { handlerCall, isRehearsed, type RehearsedHook } from './events.ts';

/** Faults, and how many tries fail or for how many seconds a second handler blocks, by default. */
const amounts = { down: 3, restart: 1, block: 30 } as const;

/** A fault to inject. */
export interface Fault {
  kind: keyof typeof amounts;
  /** The hook whose first call fails, or the number of the call, from 1. */
  where: string | number;
  amount: number;
}

/** Whether a second handler may block a hook: of those for updates in place, Cluster API accepts only one. */
const isBlockable = (hook: RehearsedHook): boolean => hooks[hook].isBlocking && hooks[hook].calls === 'all';

/**
 * Parses `KIND@WHERE` or `KIND@WHERE=AMOUNT`.
 *
 * @returns the fault, or what is wrong with the text.
 */
export function parseFault(text: string): Fault | { problem: string } {
  const [, name = '', place = '', amount] =
    /^(down|restart|block)@([A-Za-z]{1,40}|[1-9]\d{0,5})(?:=([1-9]\d{0,4}))?$/.exec(text) ?? [];
  if (name === '' || (name === 'restart' && amount !== undefined)) {
    return {
      problem:
        'it must be of the form down@BeforeClusterUpgrade=3, restart@7 or block@BeforeControlPlaneUpgrade=30, with numbers from 1',
    };
  }
  const kind = name as Fault['kind'];
  const where = /^\d/.test(place) ? Number(place) : place;
  if (typeof where === 'string') {
    if (!Object.hasOwn(hooks, where)) {
      return { problem: `${where} is not a hook: "hooks" lists them` };
    }
    if (!isRehearsed(where) || hooks[where].calls === 'server') {
      return { problem: `a rehearsal plays no call of ${where}` };
    }
    if (kind === 'block' && !isBlockable(where)) {
      return { problem: `a second handler of ${where} cannot block it` };
    }
  }
  return { kind, where, amount: Number(amount ?? amounts[kind]) };
}

/**
 * Wraps a caller so that it injects the faults of one simulation.
 *
 * @param down makes calls to servers that do not exist.
 */
export function withFaults(up: Caller, down: Caller, faults: readonly Fault[]): Caller {
  let waiting = faults;
  let calls = 0;
  /** Number of further calls that fail because the extension is down. */
  let failures = 0;
  return async (effect, signal) => {
    const strike = (kind: Fault['kind']): number => {
      const isDue = ({ where }: Fault) => (typeof where === 'number' ? calls + 1 >= where : where === effect.hook);
      const fault = waiting.find((one) => one.kind === kind && isDue(one));
      waiting = waiting.filter((one) => one !== fault);
      return fault?.amount ?? 0;
    };
    const tries = strike('down');
    failures += tries;
    const outcome = await (failures > 0 ? down : up)(effect, signal);
    if (outcome.calls.length === 0) {
      return outcome;
    }
    failures = Math.max(0, failures - 1);
    const isRestarted = strike('restart') > 0;
    const seconds = !isRestarted && outcome.ok === true && isBlockable(effect.hook) ? strike('block') : 0;
    calls += outcome.calls.length;
    if (isRestarted) {
      return { ok: 'restart', calls: outcome.calls, fault: 'the controller restarts before it acts on the answer' };
    }
    if (seconds > 0 && outcome.ok === true) {
      const { retryAfterSeconds: first, message } = outcome.response;
      const second = { message: 'the second handler is not ready', retryAfterSeconds: seconds };
      const response = {
        ...outcome.response,
        retryAfterSeconds: typeof first === 'number' && first !== 0 ? Math.min(first, seconds) : seconds,
        message: [message, second.message].filter((text) => typeof text === 'string' && text !== '').join(', '),
      };
      const blocking = handlerCall('second-handler.rehearsal', second);
      return {
        ok: true,
        response,
        calls: [...outcome.calls, blocking],
        fault: `a second handler blocks for ${seconds}s`,
      };
    }
    return tries === 0
      ? outcome
      : { ...outcome, fault: `the extensions are down for ${tries === 1 ? 'one try' : `${tries} tries`}` };
  };
}
