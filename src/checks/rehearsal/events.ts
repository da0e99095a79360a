import type { JsonObject } from '../../kubernetes/index.ts';
import type { HookName } from '../../runtimehooks/index.ts';

/** How the call of one handler ended. `Ignored`: failurePolicy `Ignore` suppressed the failure. `Error`: there was no answer. */
export interface HandlerCall {
  /** `HANDLER.EXTENSIONCONFIG`. */
  handler: string;
  status: 'Success' | 'Failure' | 'Error' | 'Ignored';
  message: string;
  retryAfterSeconds: number;
  /** Why it failed, in Cluster API's words; empty for a success. */
  error: string;
}

export const handlerCall = (handler: string, more: Partial<HandlerCall>): HandlerCall => ({
  ...{ handler, status: 'Success', message: '', retryAfterSeconds: 0, error: '' },
  ...more,
});

/** The outcome of a call. If there is no handler, it is a success without calls. */
export type Outcome = { calls: readonly HandlerCall[] } & (
  | { ok: true; response: JsonObject }
  | { ok: false; error: string }
);

export interface Call {
  hook: HookName;
  request: JsonObject;
  object: { namespace: string; name: string; uid: string };
  /** Absent: all handlers of the hook. */
  handler?: string;
}

export type Condition = { kind: 'condition'; status: 'True' | 'False'; reason: string; message: string };

export type SimulatedEvent =
  | Condition
  | { kind: 'finding'; severity: 'error' | 'warning'; text: string; remedy: string }
  | { kind: 'user' | 'control-plane' | 'worker' | 'machine' | 'pending-hooks' | 'plan'; text: string };

export interface CallEntry {
  type: 'call';
  /** `NAMESPACE/NAME` of the Cluster; for DiscoverVariables `ClusterClass NAMESPACE/NAME`; empty for Discovery. */
  cluster: string;
  number: number;
  /** Milliseconds since the simulation began. */
  at: number;
  hook: HookName;
  call: HandlerCall;
  kubernetesVersion: string | undefined;
  fromKubernetesVersion: string | undefined;
  toKubernetesVersion: string | undefined;
  controlPlaneUpgrades: readonly string[] | undefined;
  workersUpgrades: readonly string[] | undefined;
  machine: string | undefined;
  /** The Cluster's annotation of pending hooks at the time of the call. */
  pendingHooks: string;
}

export interface EventEntry {
  type: 'event';
  cluster: string;
  at: number;
  event: SimulatedEvent;
}

export interface EndEntry {
  type: 'end';
  cluster: string;
  at: number;
  isComplete: boolean;
  reason: string;
  calls: number;
}

export type Entry = CallEntry | EventEntry | EndEntry;

/** Thrown inside a simulation when a reconcile fails. The message becomes that of the condition. */
export class ReconcileError extends Error {}

/** Thrown inside a simulation when it cannot be completed. */
export class SimulationStopped extends Error {}
