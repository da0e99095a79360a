import type { JsonObject } from '../../../kubernetes/index.ts';
import type { HookName } from '../../../runtimehooks/index.ts';

/** Whether a rehearsal calls a hook. */
const rehearsed = {
  Discovery: true,
  BeforeClusterCreate: true,
  AfterControlPlaneInitialized: true,
  BeforeClusterUpgrade: true,
  BeforeControlPlaneUpgrade: true,
  AfterControlPlaneUpgrade: true,
  BeforeWorkersUpgrade: true,
  AfterWorkersUpgrade: true,
  AfterClusterUpgrade: true,
  BeforeClusterDelete: true,
  DiscoverVariables: true,
  GeneratePatches: true,
  ValidateTopology: true,
  GenerateUpgradePlan: true,
  CanUpdateMachine: true,
  CanUpdateMachineSet: true,
  UpdateMachine: true,
} as const satisfies Record<HookName, boolean>;

/** A hook that a rehearsal calls. */
export type RehearsedHook = { [Name in HookName]: (typeof rehearsed)[Name] extends true ? Name : never }[HookName];

/** Whether a hook of this name is called. */
export const isRehearsed = (hook: string): hook is RehearsedHook =>
  Object.hasOwn(rehearsed, hook) && rehearsed[hook as HookName];

/**
 * How the call of one handler ended. `Ignored`: it failed, and failurePolicy `Ignore` suppressed the failure. `Error`:
 * there was no answer.
 */
export interface HandlerCall {
  /** `HANDLER.EXTENSIONCONFIG`. */
  handler: string;
  status: 'Success' | 'Failure' | 'Error' | 'Ignored';
  message: string;
  retryAfterSeconds: number;
  /** Why it failed, in Cluster API's words; empty for a success. */
  error: string;
}

/** The call of a handler, by default a success without a message. */
export const handlerCall = (handler: string, more: Partial<HandlerCall>): HandlerCall => ({
  ...{ handler, status: 'Success', message: '', retryAfterSeconds: 0, error: '' },
  ...more,
});

/** The result of a call for a simulation. If there is no handler, it is a success without calls. */
export type EffectOutcome = {
  calls: readonly HandlerCall[];
  /** The fault that was injected. */
  fault?: string;
} & (
  | { ok: true; response: JsonObject }
  | { ok: false; error: string }
  /** The controller ended before it could act on the answer. */
  | { ok: 'restart' }
);

/** A call that a simulation requests: of one handler, or of all handlers registered for the hook. */
export interface CallEffect {
  do: 'call';
  /** Milliseconds since the simulation began. */
  at: number;
  hook: RehearsedHook;
  request: JsonObject;
  /** The object that the hook is called for. */
  object: { namespace: string; name: string; uid: string };
  /** Absent: all handlers of the hook. */
  handler?: string;
  /** The Cluster's annotation of pending hooks at that time. */
  pendingHooks: string;
}

/** The condition TopologyReconciled. */
export type Condition = { kind: 'condition'; status: 'True' | 'False'; reason: string; message: string };

/** Events of a simulation other than calls. */
export type SimulatedEvent =
  | { kind: 'user'; text: string }
  | Condition
  | { kind: 'control-plane'; state: 'creating' | 'upgrading' | 'ready' | 'gone'; version: string; name: string }
  | {
      kind: 'worker';
      state: 'creating' | 'upgrading' | 'ready' | 'gone';
      version: string;
      name: string;
      /** The name in the topology. */
      group: string;
    }
  | { kind: 'machine'; state: 'creating' | 'gone'; name: string }
  | { kind: 'pending-hooks'; hooks: string }
  | { kind: 'plan'; controlPlane: readonly string[]; workers: readonly string[] }
  /** `isFirst`: compared with the templates of the class; otherwise with what was reported before. */
  | { kind: 'templates'; isFirst: boolean; changes: readonly TemplateChange[] }
  | { kind: 'fault'; text: string }
  | { kind: 'finding'; severity: 'error' | 'warning'; text: string; remedy: string };

/** A template whose patches changed: before, and now. */
export interface TemplateChange {
  /** Where it is used: `Cluster default/sample spec.controlPlaneRef`. */
  holder: string;
  /** `KIND NAME`. */
  template: string;
  before: JsonObject;
  after: JsonObject;
  /** Paths of changes that Cluster API ignores, as far as they have not been reported before. */
  ignored: readonly string[];
}

/** What a simulation asks its player to do. */
export type Effect =
  | CallEffect
  | { do: 'tell'; at: number; event: SimulatedEvent }
  /** Real time must pass. */
  | { do: 'wait'; at: number; ms: number }
  /** Time passes, up to `at`. */
  | { do: 'pass'; at: number; fromMs: number };

/** A part of a simulation: yields effects and returns a value. Only calls have results. */
export type Simulation<T = void> = Generator<Effect, T, EffectOutcome | undefined>;

/** How a simulation ended. */
export interface SimulationEnd {
  isComplete: boolean;
  /** If not completed, why. */
  reason: string;
  /** Duration of the simulation in milliseconds. */
  at: number;
}

/** Thrown inside a simulation when a reconcile fails. The message becomes that of the condition. */
export class ReconcileError extends Error {}

/** Thrown inside a simulation when it cannot be completed. */
export class SimulationStopped extends Error {}

/** Thrown inside a simulation when the controller restarts. */
export class ControllerRestart extends Error {}
