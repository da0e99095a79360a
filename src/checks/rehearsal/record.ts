import { withoutSecrets } from '../texts.ts';
import type { HandlerCall, RehearsedHook, SimulatedEvent, SimulationEnd } from './cluster/effects.ts';

/** One call of a handler. */
export interface CallEntry {
  type: 'call';
  /** `NAMESPACE/NAME` of the Cluster; for DiscoverVariables `ClusterClass NAMESPACE/NAME`; empty for Discovery. */
  cluster: string;
  /** Counted from 1 for each Cluster. */
  number: number;
  /** Milliseconds since the simulation began. */
  at: number;
  hook: RehearsedHook;
  call: HandlerCall;
  kubernetesVersion: string | undefined;
  fromKubernetesVersion: string | undefined;
  toKubernetesVersion: string | undefined;
  controlPlaneUpgrades: readonly string[] | undefined;
  workersUpgrades: readonly string[] | undefined;
  /** Name of the Machine or MachineSet that the call is about. */
  machine: string | undefined;
  /** The Cluster's annotation of pending hooks at the time of the call. */
  pendingHooks: string;
}

/** An event other than a call. */
export interface EventEntry {
  type: 'event';
  cluster: string;
  at: number;
  event: SimulatedEvent;
}

/** How the simulation of a Cluster ended. */
export interface EndEntry extends SimulationEnd {
  type: 'end';
  cluster: string;
  calls: number;
}

/** One line of a rehearsal's record. */
export type Entry = CallEntry | EventEntry | EndEntry;

/** A warning about a Cluster or, with an empty name, about extensions, before a simulation begins. */
export function warning(cluster: string, text: string, remedy: string): EventEntry {
  return { type: 'event', cluster, at: 0, event: { kind: 'finding', severity: 'warning', text, remedy } };
}

/** An entry without the secrets that messages of extensions may contain. Templates are masked where they are shown. */
export function masked(entry: Entry): Entry {
  if (entry.type === 'call') {
    const { message, error } = entry.call;
    return { ...entry, call: { ...entry.call, message: withoutSecrets(message), error: withoutSecrets(error) } };
  }
  if (entry.type === 'end') {
    return { ...entry, reason: withoutSecrets(entry.reason) };
  }
  const { event } = entry;
  switch (event.kind) {
    case 'condition':
      return { ...entry, event: { ...event, message: withoutSecrets(event.message) } };
    case 'finding':
      return { ...entry, event: { ...event, text: withoutSecrets(event.text) } };
    default:
      return entry;
  }
}
