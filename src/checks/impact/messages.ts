import type { JsonObject } from '../../kubernetes/index.ts';
import type { Release } from '../../runtimehooks/index.ts';

/** The data that the thread is started with. */
export interface ThreadSettings {
  kubeconfig: { kubeconfig?: string | undefined; context?: string | undefined };
  clusterApiVersion: Release | undefined;
  /** Whether replacements need a permission in namespaces with the label. */
  denies: boolean;
  /** Whether extensions that offer it update Machines in place. */
  updatesInPlace: boolean;
  callsExtensions: boolean;
  /** The number of the newest review: older ones are dropped. */
  newest: Int32Array<SharedArrayBuffer>;
}

/** A write to judge. */
export interface Question {
  number: number;
  object: JsonObject;
  old: JsonObject | undefined;
  /** On the clock of `monotonicMs`. */
  deadlineMs: number;
}

/** The effect of a write on Machines. */
export interface Answer {
  number: number;
  /** Warnings. */
  lines: string[];
  replaced: number;
  /** How many Clusters use the object, and of how many the plan was made. */
  clusters: number;
  planned: number;
  isUnknown: boolean;
  /** Identifies the plan; absent if it was cut off. */
  hash: string | undefined;
  /** Namespaces that do not permit the replacement. */
  deniedIn: string[];
}

export type FromThread =
  | { is: 'ready' }
  | { is: 'answer'; answer: Answer }
  | { is: 'bug'; number: number; error: string; stack: string[] }
  | { is: 'late'; number: number }
  | { is: 'problem'; resource: string; problem: string | undefined };

/** Milliseconds of a clock that all threads share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
