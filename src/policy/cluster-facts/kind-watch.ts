import type { KubeConfig } from '@kubernetes/client-node';
import {
  type Informer,
  type KubernetesClient,
  objectKey,
  startInformer,
  type WatchPace,
} from '../../kubernetes/client/index.ts';
import { type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { FactCollection } from '../facts/collection.ts';
import type { CollectedKind } from '../facts/store.ts';
import { factResources, resourceName, servedVersion, versionPath } from './resources.ts';

/** Maximum number of objects of a kind: some 1.6 KiB each, 80 MiB. With more, nothing is known about that kind. */
const maxObjects = 50_000;
/**
 * Maximum number of characters of JSON of a kind in memory, in case objects are as large as allowed: an ordinary one
 * takes 300. The indexes over them take some five times as much.
 */
const maxLength = 32 * 1024 * 1024;

/** 404s in a row after which a resource is gone: an API server that has just started may not know its definitions. */
const missesOfGone = 3;

export interface KindWatchContext {
  config: KubeConfig;
  cluster: KubernetesClient;
  now: () => number;
  pace: Partial<WatchPace>;
  /** Called with why objects of a kind may be stale or missing; with undefined when they are current again. */
  onProblem(kind: CollectedKind, problem: string | undefined): void;
  /** Called when the objects of a kind have been listed for the first time, and whenever the kind is not served. */
  onSettled(): void;
}

/** The state of a kind: unknown; the version that is watched; or when the server last reported that it serves none. */
type State =
  | { is: 'unknown' }
  | { is: 'followed'; version: string; informer: Informer; misses: number }
  | { is: 'absent'; confirmedAt: number };

/** The metadata by which an object, and its version, is recognized. */
function identityOf(object: JsonObject): JsonObject {
  const { namespace = null, name = null, uid = null, resourceVersion = null } = objectAt(object, 'metadata');
  return { namespace, name, uid, resourceVersion };
}

/** Watches one kind: copies the objects of the version that the API server serves into a collection. */
export class KindWatch {
  readonly kind: CollectedKind;
  readonly #collection: FactCollection;
  readonly #context: KindWatchContext;
  #state: State = { is: 'unknown' };
  problem: string | undefined;
  #isStopped = false;

  constructor(kind: CollectedKind, collection: FactCollection, context: KindWatchContext) {
    this.kind = kind;
    this.#collection = collection;
    this.#context = context;
  }

  /** Whether all objects have been listed once, or it is known that there are none. */
  get isSettled(): boolean {
    return this.#state.is === 'absent' || (this.#state.is === 'followed' && this.#state.informer.isSynced);
  }

  /** How long ago the API server last confirmed the objects, in ms; undefined before the first time. */
  get ageMs(): number | undefined {
    const state = this.#state;
    const informer = state.is === 'followed' && state.informer.isSynced ? state.informer : undefined;
    const confirmedAt = state.is === 'absent' ? state.confirmedAt : informer?.confirmedAt;
    return confirmedAt === undefined ? undefined : Math.max(0, this.#context.now() - confirmedAt);
  }

  get size(): number {
    return this.#collection.size;
  }

  /** Finds out which version is served, and adapts the watch if it has changed. Never rejects. */
  async findVersion(): Promise<void> {
    const resource = factResources[this.kind];
    try {
      const version = await servedVersion(this.#context.cluster, resource);
      if (this.#isStopped) {
        return;
      }
      if (version === undefined) {
        this.#miss();
      } else {
        this.#follow(version);
      }
    } catch (error) {
      // The version that is watched reports its own problems.
      if (this.#state.is !== 'followed' && !this.#isStopped) {
        this.#tell(`${resourceName(resource)}: ${(error as Error).message}`);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#state.is === 'followed') {
      this.#state.informer.stop();
    }
  }

  #miss(): void {
    if (this.#state.is === 'followed' && ++this.#state.misses < missesOfGone) {
      return;
    }
    this.#end();
    this.#state = { is: 'absent', confirmedAt: this.#context.now() };
    this.#tell(undefined);
    this.#context.onSettled();
  }

  #follow(version: string): void {
    if (this.#state.is === 'followed' && this.#state.version === version) {
      this.#state.misses = 0;
      return;
    }
    this.#end();
    const informer = this.#startInformer(version);
    this.#state = { is: 'followed', version, informer, misses: 0 };
    void informer.synced.then(() => {
      // The reported problem may be that of an earlier version, or that the version was unknown.
      this.#tell(informer.problem);
      this.#context.onSettled();
    });
  }

  /** Stops watching the version, and drops its objects. */
  #end(): void {
    if (this.#state.is === 'followed') {
      this.#state.informer.stop();
    }
    this.#collection.clear();
  }

  #startInformer(version: string): Informer {
    const resource = factResources[this.kind];
    const { config, pace } = this.#context;
    return startInformer(config, {
      path: `${versionPath(resource.group, version)}/${resource.plural}`,
      resource: resourceName(resource),
      keep: (object) => ({
        metadata: identityOf(object),
        facts: this.#collection.reduce(objectKey(object), object) as Json,
      }),
      maxObjects,
      maxLength,
      onChange: ({ type, key, object }) => {
        if (type === 'deleted') {
          this.#collection.remove(key);
        } else {
          this.#collection.putReduced(key, object.facts);
        }
      },
      onProblem: (problem) => this.#tell(problem),
      pace,
    });
  }

  #tell(problem: string | undefined): void {
    if (this.problem !== problem) {
      this.problem = problem;
      this.#context.onProblem(this.kind, problem);
    }
  }
}
