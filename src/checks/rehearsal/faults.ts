import type { JsonObject } from '../../kubernetes/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import type { Caller } from './caller.ts';
import {
  type CallEffect,
  type EffectOutcome,
  type FaultNote,
  type HandlerCall,
  handlerCall,
} from './cluster/effects.ts';

/** A fault to inject. */
export interface Fault {
  kind: 'down' | 'restart' | 'block';
  /** The hook whose first call fails, or the number of the call, from 1. */
  where: string | number;
  /** For `down`, how many calls fail; for `block`, how many seconds. */
  amount: number;
  /** The text of the flag. */
  text: string;
}

const kinds = { down: 3, restart: 1, block: 30 } as const;

const maxAmount = 86_400;

/**
 * Parses `KIND@WHERE` or `KIND@WHERE=AMOUNT`.
 *
 * @returns the fault, or what is wrong with the text.
 */
export function parseFault(text: string): Fault | { problem: string } {
  const match = /^(down|restart|block)@([A-Za-z]{1,40}|\d{1,6})(?:=(\d{1,5}))?$/.exec(text);
  if (match === null) {
    return {
      problem: 'it must be of the form down@BeforeClusterUpgrade=3, restart@7 or block@BeforeControlPlaneUpgrade=30',
    };
  }
  const [, kind = '', where = '', amount] = match;
  const fault = kind as Fault['kind'];
  if (!/^\d/.test(where) && (!Object.hasOwn(hooks, where) || where === 'Discovery')) {
    return { problem: `${where} is not a hook: "hooks" lists them` };
  }
  if (Number(where) === 0) {
    return { problem: 'calls are counted from 1' };
  }
  if (fault === 'restart' && amount !== undefined) {
    return { problem: 'a restart takes no number' };
  }
  if (fault === 'block' && !/^\d/.test(where) && !hooks[where as keyof typeof hooks].isBlocking) {
    return { problem: `${where} cannot block` };
  }
  const number = amount === undefined ? kinds[fault] : Number(amount);
  if (number < 1 || number > maxAmount) {
    return { problem: `the number must be from 1 to ${maxAmount}` };
  }
  return { kind: fault, where: /^\d/.test(where) ? Number(where) : where, amount: number, text };
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
    const isBlockable = hooks[effect.hook].isBlocking && effect.handler === undefined;
    const block = outcome.ok && isBlockable ? strike('block') : undefined;
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
