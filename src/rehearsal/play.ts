import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../kubernetes/index.ts';
import {
  type CallEffect,
  type Effect,
  type EffectOutcome,
  type FaultNote,
  type HandlerCall,
  type Life,
  textAt,
} from './cluster/index.ts';
import type { CallEntry, Entry } from './record.ts';

/** How a life is played. */
export interface PlayOptions {
  /** Whether waits take real time. */
  isRealTime?: boolean;
  /** Called for every entry; those of one Cluster come in their order. */
  onEntry: (entry: Entry) => void;
  signal: AbortSignal;
  /** Waits for some milliseconds of real time. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Real time that passes while simulated time does, so that work in the background of an extension can go on: a
 * millisecond after the first answer in a row that waits, then two, four, … up to the longest, and so much for one
 * wait.
 */
const pace = { first: 1, longest: 200, inAll: 4000 } as const;

/** Longest time that a timer takes, in ms. */
const longestSleep = 2 ** 31 - 1;

const versionsOf = (list: unknown): string[] | undefined =>
  Array.isArray(list) ? list.map((step) => textAt(step as JsonObject, 'version')) : undefined;

const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The record of a call. */
export function entryOf(cluster: string, number: number, effect: CallEffect, call: HandlerCall): CallEntry {
  const { request } = effect;
  return {
    type: 'call',
    cluster,
    number,
    at: effect.at,
    hook: effect.hook,
    call,
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
    pendingHooks: effect.pendingHooks,
  };
}

/** Calls of one life, and a placeholder for a call that could not be made at all. */
const shown = (outcome: EffectOutcome, effect: CallEffect): readonly HandlerCall[] =>
  outcome.calls.length > 0 || outcome.ok !== false
    ? outcome.calls
    : [
        {
          handler: effect.handler ?? '',
          status: 'Error',
          message: '',
          retryAfterSeconds: 0,
          error: outcome.error,
          isMadeUp: false,
        },
      ];

/** Runs a generator to its end: makes its calls, and records what happens. */
export async function play<T>(
  life: Life<T>,
  cluster: string,
  answer: (effect: CallEffect, signal: AbortSignal) => Promise<EffectOutcome>,
  { onEntry, signal, isRealTime = false, sleep = (ms) => wait(ms, undefined, { signal }) }: PlayOptions,
): Promise<{ end: T; calls: number }> {
  let number = 0;
  /** The current wait: the hook, the number of its calls, and the real time that it took, in ms. */
  let waiting = { hook: '', pauses: 0, paused: 0 };
  let given: EffectOutcome | undefined;
  for (;;) {
    const { done, value } = life.next(given);
    if (done) {
      return { end: value, calls: number };
    }
    given = undefined;
    const effect: Effect = value;
    if (effect.do === 'tell') {
      onEntry({ type: 'event', cluster, at: effect.at, event: effect.event });
    } else if (effect.do === 'call') {
      const outcome = await answer(effect, signal);
      signal.throwIfAborted();
      const tellFaults = (when: FaultNote['when']) => {
        for (const note of outcome.faults ?? []) {
          if (note.when === when) {
            onEntry({ type: 'event', cluster, at: effect.at, event: { kind: 'fault', text: note.text } });
          }
        }
      };
      tellFaults('before');
      for (const call of shown(outcome, effect)) {
        number++;
        onEntry(entryOf(cluster, number, effect, call));
      }
      tellFaults('after');
      const isWaiting = outcome.calls.some(({ retryAfterSeconds }) => retryAfterSeconds !== 0) || outcome.ok === false;
      if (isWaiting) {
        const isMore = waiting.hook === effect.hook;
        waiting = { hook: effect.hook, pauses: isMore ? waiting.pauses + 1 : 1, paused: isMore ? waiting.paused : 0 };
      } else if (waiting.hook === effect.hook) {
        waiting = { hook: '', pauses: 0, paused: 0 };
      }
      given = outcome;
    } else {
      const simulated = effect.at - effect.fromMs;
      const pause = isRealTime
        ? simulated
        : Math.min(
            simulated,
            waiting.pauses === 0 ? 0 : pace.first * 2 ** Math.min(waiting.pauses - 1, 16),
            pace.longest,
          );
      if (pause > 0 && (isRealTime || waiting.paused < pace.inAll)) {
        waiting.paused += pause;
        await sleep(Math.min(pause, longestSleep), signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw error;
        });
      }
    }
  }
}
