import type { ClusterKnowledge } from '../admission/admission.ts';
import type { FactKind } from '../facts/facts.ts';
import type { FactsStore } from '../facts/store.ts';
import type { KindWatch } from './kind-watch.ts';
import type { NamedObjects } from './named-objects.ts';

/** How current the facts about a kind are. */
export interface KindStatus {
  isKnown: boolean;
  /** The age of the copy, in ms; undefined if nothing has been read yet, and for Secrets. */
  ageMs: number | undefined;
  objects: number;
  problem: string | undefined;
}

/** The sources of facts. */
interface KnowledgeSources {
  watches: readonly KindWatch[];
  objects: NamedObjects;
  store: FactsStore;
  /** Age from which facts count as unknown, in ms. */
  maxAgeMs: number;
}

/** The age of the facts about a kind, in ms; undefined if they are unknown or too old. */
function knownAgeOf({ ageMs }: KindWatch, maxAgeMs: number): number | undefined {
  return ageMs !== undefined && ageMs <= maxAgeMs ? ageMs : undefined;
}

/** The current facts, the age of the oldest, and the kinds that are unknown. */
export function knowledgeOf({ watches, store, maxAgeMs }: KnowledgeSources): ClusterKnowledge {
  let oldest: number | undefined;
  const unknown: FactKind[] = [];
  for (const watch of watches) {
    const ageMs = knownAgeOf(watch, maxAgeMs);
    store.setKnown(watch.kind, ageMs !== undefined);
    if (ageMs === undefined) {
      unknown.push(watch.kind);
    } else {
      oldest = Math.max(oldest ?? 0, ageMs);
    }
  }
  return { facts: store.facts, ageMs: oldest, unknown };
}

/** How current the facts about one kind are at this moment. */
export function statusOf(kind: FactKind, { watches, objects, maxAgeMs }: KnowledgeSources): KindStatus {
  const watch = watches.find((candidate) => candidate.kind === kind);
  if (watch === undefined) {
    // Secrets are read one by one, when a request names one.
    const problem = objects.problem('Secret');
    return { isKnown: problem === undefined, ageMs: undefined, objects: 0, problem };
  }
  const { ageMs, size, problem } = watch;
  return { isKnown: knownAgeOf(watch, maxAgeMs) !== undefined, ageMs, objects: size, problem };
}
