import type { JsonObject } from '../../kubernetes/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import type { Caller } from './caller.ts';
import {
  type CallEffect,
  type EffectOutcome,
  type FaultNote,
  type HandlerCall,
  handlerCall,
  isRehearsed,
  type RehearsedHook,
} from './cluster/effects.ts';

/** A fault to inject. */
export interface Fault {
  kind: 'down' | 'restart' | 'block';
  /** The hook whose first call fails, or the number of the call, from 1. */
  where: string | number;
  /** For `down`, how many calls fail; for `block`, how many seconds. */
  amount: number;
}

/** Whether a second handler may block a hook: of those for updates in place, Cluster API accepts only one. */
const isBlockable = (hook: RehearsedHook): boolean => hooks[hook].isBlocking && hooks[hook].calls === 'all';

const amounts = { down: 3, restart: 1, block: 30 } as const;

/**
 * Parses `KIND@WHERE` or `KIND@WHERE=AMOUNT`.
 *
 * @returns the fault, or what is wrong with the text.
 */
export function parseFault(text: string): Fault | { problem: string } {
  const [whole, name = '', hook = '', amount] =
    /^(down|restart|block)@([A-Za-z]{1,40}|[1-9]\d{0,5})(?:=([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const kind = name as Fault['kind'];
  if (whole === undefined || (kind === 'restart' && amount !== undefined)) {
    return {
      problem:
        'it must be of the form down@BeforeClusterUpgrade=3, restart@7 or block@BeforeControlPlaneUpgrade=30, with numbers from 1',
    };
  }
  const where = /^\d/.test(hook) ? Number(hook) : hook;
  if (typeof where === 'string' && !Object.hasOwn(hooks, where)) {
    return { problem: `${where} is not a hook: "hooks" lists them` };
  }
  if (typeof where === 'string' && (!isRehearsed(where) || hooks[where].calls === 'server')) {
    return { problem: `a rehearsal plays no call of ${where}` };
  }
  if (kind === 'block' && typeof where === 'string' && !isBlockable(where as RehearsedHook)) {
    return { problem: `a second handler of ${where} cannot block it` };
  }
  return { kind, where, amount: Number(amount ?? amounts[kind]) };
}

/** Name of the handler that a fault adds. */
const secondHandler = 'second-handler.rehearsal';

/**
 * Wraps a caller so that it injects the faults of one simulation.
 *
 * @param down makes calls to servers that do not exist.
 */
export function withFaults(
  up: Caller,
  down: Caller,
  faults: readonly Fault[],
): (effect: CallEffect, signal: AbortSignal) => Promise<EffectOutcome> {
  let calls = 0;
  let waiting = faults;
  /** Number of further calls that fail because the extension is down. */
  let failures = 0;
  return async (effect, signal) => {
    const next = calls + 1;
    const strike = (kind: Fault['kind']): Fault | undefined => {
      const fault = waiting.find(
        ({ kind: one, where }) =>
          one === kind && (where === effect.hook || (typeof where === 'number' && next >= where)),
      );
      waiting = waiting.filter((one) => one !== fault);
      return fault;
    };
    const notes: FaultNote[] = [];
    const outage = strike('down');
    if (outage !== undefined) {
      failures = outage.amount;
      notes.push({
        text: `the extensions are down for ${failures === 1 ? 'one try' : `${failures} tries`}`,
        when: 'before',
      });
    }
    const outcome = await (failures > 0 ? down : up)(effect, signal);
    if (outcome.calls.length === 0) {
      return outcome;
    }
    calls += outcome.calls.length;
    if (failures > 0 && --failures === 0) {
      notes.push({ text: 'the extensions are reachable again', when: 'after' });
    }
    if (strike('restart') !== undefined) {
      notes.push({ text: 'the controller restarts before it acts on the answer', when: 'after' });
      return { ok: 'restart', calls: outcome.calls, faults: notes };
    }
    const block = outcome.ok && isBlockable(effect.hook) ? strike('block') : undefined;
    return block !== undefined && outcome.ok
      ? secondBlocks(outcome, block.amount, notes)
      : { ...outcome, faults: notes };
  };
}

/** Adds the response of a second, blocking handler to an outcome. */
function secondBlocks(
  { response, calls }: { response: JsonObject; calls: readonly HandlerCall[] },
  seconds: number,
  notes: readonly FaultNote[],
): EffectOutcome {
  const call = handlerCall(secondHandler, {
    message: 'the second handler is not ready',
    retryAfterSeconds: seconds,
  });
  const { retryAfterSeconds, message } = response;
  const first = typeof retryAfterSeconds === 'number' && retryAfterSeconds !== 0 ? retryAfterSeconds : seconds;
  const messages = [typeof message === 'string' ? message : '', call.message].filter((text) => text !== '');
  return {
    ok: true,
    calls: [...calls, call],
    response: { ...response, retryAfterSeconds: Math.min(first, seconds), message: messages.join(', ') },
    faults: [...notes, { text: `a second handler blocks for ${seconds}s`, when: 'before' }],
  };
}
