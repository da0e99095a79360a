import type { Release } from '../../runtimehooks/index.ts';
import type { Change } from './impact.ts';
import type { Verdict } from './permission.ts';

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
export interface Question extends Change {
  number: number;
  /** On the clock of `monotonicMs`. */
  deadlineMs: number;
  /** Whether replacements need a permission: its plan is not cut short for newer writes. */
  isGuarded: boolean;
  isDryRun: boolean;
}

/** Why something is not known. */
export const reasons = ['late', 'bug', 'reading', 'extension', 'plan'] as const;
export type Reason = (typeof reasons)[number];

/** The effect of a write on Machines. */
export interface Answer extends Verdict {
  number: number;
  /** Warnings. */
  lines: string[];
  /** Machines that are replaced or deleted. */
  replaced: number;
  deleted: number;
  /** How many Clusters use the object, and of how many the plan was made. */
  clusters: number;
  planned: number;
  /** Undefined if all is known. */
  unknown: Reason | undefined;
}

export type FromThread =
  /** The objects have been read for the first time. */
  | { is: 'ready' }
  | { is: 'answer'; answer: Answer }
  /** The plan of a whole write failed, or of one of its Clusters: that has no number. */
  | { is: 'bug'; number?: number; error: string; stack: string[] }
  | { is: 'late'; number: number }
  | { is: 'problem'; resource: string; problem: string | undefined };

/** Milliseconds of a clock that all threads share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
