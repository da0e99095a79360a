import { hooks } from '../hooks/index.ts';
import type { Caller } from './caller.ts';
import type { CallEffect, HandlerCall, Outcome } from './life/index.ts';

/** A fault that a rehearsal is asked for. */
export interface Fault {
  kind: 'down' | 'restart' | 'block';
  /** The hook whose first call it hits, or the number of the call, from 1. */
  where: string | number;
  /** `down`: how many tries fail; `block`: for how many seconds. */
  amount: number;
  /** As it was written. */
  text: string;
}

const kinds = { down: 3, restart: 1, block: 30 } as const;

/** Largest number of a fault. */
const maxAmount = 86_400;

/**
 * Reads `KIND@WHERE` or `KIND@WHERE=AMOUNT`.
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

/** Name of the handler that a fault makes up. */
const secondHandler = 'second-handler.rehearsal';

/** What a fault does to one life. */
interface Strikes {
  /** Calls made so far. */
  calls: number;
  /** Faults that have not hit yet. */
  waiting: Fault[];
  /** Tries that still fail, because the extension is down. */
  down: number;
}

/** Told when a fault hits. */
export type OnFault = (effect: CallEffect, text: string) => void;

/** Takes the extension servers away from a client's calls, and gives them back. */
export type Disconnect = (isDown: boolean) => void;

/** Makes the faults of one life happen. */
export function withFaults(
  caller: Caller,
  faults: readonly Fault[],
  disconnect: Disconnect,
  onFault: OnFault,
): (effect: CallEffect, signal: AbortSignal) => Promise<Outcome> {
  const strikes: Strikes = { calls: 0, waiting: [...faults], down: 0 };
  const hitting = (kind: Fault['kind'], effect: CallEffect, next: number): Fault | undefined => {
    const found = strikes.waiting.find(
      (fault) =>
        fault.kind === kind &&
        (fault.where === effect.hook || (typeof fault.where === 'number' && next >= fault.where)),
    );
    strikes.waiting = strikes.waiting.filter((fault) => fault !== found);
    return found;
  };
  return async (effect, signal) => {
    const next = strikes.calls + 1;
    const down = hitting('down', effect, next);
    if (down !== undefined) {
      strikes.down = down.amount;
      onFault(effect, `the extensions are down for ${down.amount === 1 ? 'one try' : `${down.amount} tries`}`);
    }
    disconnect(strikes.down > 0);
    const outcome = await caller(effect, signal);
    if (outcome.calls.length === 0) {
      return outcome;
    }
    strikes.calls += outcome.calls.length;
    if (strikes.down > 0) {
      strikes.down--;
      if (strikes.down === 0) {
        disconnect(false);
        onFault(effect, 'the extensions are up again');
      }
    }
    if (hitting('restart', effect, next) !== undefined) {
      onFault(effect, 'the controller restarts before it acts on the answer');
      return { ok: 'restart', calls: outcome.calls };
    }
    const isBlockable = outcome.ok === true && hooks[effect.hook].isBlocking && effect.handler === undefined;
    const block = isBlockable ? hitting('block', effect, next) : undefined;
    if (block === undefined || outcome.ok !== true) {
      return outcome;
    }
    onFault(effect, `a second handler blocks for ${block.amount}s`);
    const call: HandlerCall = {
      handler: secondHandler,
      status: 'Success',
      message: 'the second handler is not ready',
      retryAfterSeconds: block.amount,
      error: '',
      isMadeUp: true,
    };
    const { retryAfterSeconds, message } = outcome.response;
    const first = typeof retryAfterSeconds === 'number' && retryAfterSeconds !== 0 ? retryAfterSeconds : block.amount;
    return {
      ok: true,
      calls: [...outcome.calls, call],
      response: {
        ...outcome.response,
        retryAfterSeconds: Math.min(first, block.amount),
        message: [typeof message === 'string' ? message : '', call.message].filter((text) => text !== '').join(', '),
      },
    };
  };
}
