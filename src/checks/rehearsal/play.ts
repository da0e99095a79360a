import { setTimeout as wait } from 'node:timers/promises';
import { type JsonObject, textAt } from '../../kubernetes/index.ts';
import {
  type CallEffect,
  type Effect,
  type EffectOutcome,
  type HandlerCall,
  handlerCall,
  type Simulation,
} from './cluster/effects.ts';
import type { CallEntry, Entry } from './record.ts';

/** Options for playing a simulation. */
export interface PlayOptions {
  /** Called for every entry; entries of the same Cluster come in order. */
  onEntry: (entry: Entry) => void;
  onRequest?: ((call: CallEntry, request: JsonObject) => void) | undefined;
  signal: AbortSignal;
  /** Waits for some milliseconds of real time. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * How much real time passes while simulated time does, so that an extension's background work can progress: a
 * millisecond after the first waiting answer in a row, then two, four, … up to `longest`, and at most `inAll` for one
 * wait.
 */
const pace = { first: 1, longest: 200, inAll: 4000 } as const;

/** @throws the reason of the signal, by which callers recognize an interruption. */
const interruptible = (ms: number, signal: AbortSignal): Promise<unknown> =>
  wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());

const versionsOf = (list: unknown): string[] | undefined =>
  Array.isArray(list) ? list.map((step) => textAt(step as JsonObject, 'version')) : undefined;

const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The record of a call. */
export function entryOf(
  cluster: string,
  number: number,
  { at, hook, request, pendingHooks }: Pick<CallEffect, 'at' | 'hook' | 'request' | 'pendingHooks'>,
  call: HandlerCall,
): CallEntry {
  return {
    ...{ type: 'call', cluster, number, at, hook, call, pendingHooks },
    kubernetesVersion: optionalText(request.kubernetesVersion),
    fromKubernetesVersion:
      optionalText(request.fromKubernetesVersion) ?? optionalText(request.fromControlPlaneKubernetesVersion),
    toKubernetesVersion: optionalText(request.toKubernetesVersion),
    controlPlaneUpgrades: versionsOf(request.controlPlaneUpgrades),
    workersUpgrades: versionsOf(request.workersUpgrades),
    machine:
      textAt(request, 'desired', 'machine', 'metadata', 'name') ||
      textAt(request, 'desired', 'machineSet', 'metadata', 'name') ||
      undefined,
  };
}

/** Calls for the record; a placeholder if a call could not be made at all. */
const shown = (outcome: EffectOutcome, { handler = '' }: CallEffect): readonly HandlerCall[] =>
  outcome.calls.length > 0 || outcome.ok !== false
    ? outcome.calls
    : [handlerCall(handler, { status: 'Error', error: outcome.error })];

/** Runs a simulation to its end: makes its calls, and records what happens. */
export async function play<T>(
  simulation: Simulation<T>,
  cluster: string,
  answer: (effect: CallEffect, signal: AbortSignal) => Promise<EffectOutcome>,
  { onEntry, onRequest, signal, sleep = interruptible }: PlayOptions,
): Promise<{ end: T; calls: number }> {
  let number = 0;
  /** The current wait: the hook, how often it has blocked in a row, and the real time spent on it, in ms. */
  let waiting = { hook: '', pauses: 0, paused: 0 };
  let answered: EffectOutcome | undefined;
  for (;;) {
    const { done, value } = simulation.next(answered);
    if (done) {
      return { end: value, calls: number };
    }
    answered = undefined;
    const effect: Effect = value;
    if (effect.do === 'tell') {
      onEntry({ type: 'event', cluster, at: effect.at, event: effect.event });
    } else if (effect.do === 'call') {
      const outcome = await answer(effect, signal);
      signal.throwIfAborted();
      if (outcome.fault !== undefined) {
        onEntry({ type: 'event', cluster, at: effect.at, event: { kind: 'fault', text: outcome.fault } });
      }
      for (const call of shown(outcome, effect)) {
        number++;
        const entry = entryOf(cluster, number, effect, call);
        onRequest?.(entry, effect.request);
        onEntry(entry);
      }
      const isWaiting = outcome.calls.some(({ retryAfterSeconds }) => retryAfterSeconds !== 0) || outcome.ok === false;
      if (isWaiting) {
        const isMore = waiting.hook === effect.hook;
        waiting = { hook: effect.hook, pauses: isMore ? waiting.pauses + 1 : 1, paused: isMore ? waiting.paused : 0 };
      } else if (waiting.hook === effect.hook) {
        waiting = { hook: '', pauses: 0, paused: 0 };
      }
      answered = outcome;
    } else if (effect.do === 'wait') {
      await sleep(effect.ms, signal);
    } else {
      const due = waiting.pauses === 0 ? 0 : pace.first * 2 ** Math.min(waiting.pauses - 1, 16);
      const pause = Math.min(effect.at - effect.fromMs, due, pace.longest);
      if (pause > 0 && waiting.paused < pace.inAll) {
        waiting.paused += pause;
        await sleep(pause, signal);
      }
    }
  }
}
