import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { groupOf, type JsonObject, namespacedName, namespaceOf, objectText, textAt } from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import type { CallHook, HookAnswer, HookCall } from './groups.ts';
import { NotKnown } from './not-known.ts';
import { keyOf, nameIn, type ObjectName } from './objects.ts';

export interface Unread {
  group: string;
  kind: string;
  /** Undefined: it could be read nowhere. */
  namespace?: string | undefined;
  /** One line with the missing verb, or what the API server said. */
  why: string;
}

/** An API server's answer about a write: what it would store, or why it would not. */
export type DryRunAnswer = { is: 'stored'; object: JsonObject } | { is: 'refused'; error: string };

/** `isTrial`: the topology controller only looks whether anything would change, and webhooks of providers let more through. */
export type DryRun = (object: JsonObject, isTrial: boolean) => Promise<DryRunAnswer | undefined>;

export interface WorldParts {
  unread?: readonly Unread[] | undefined;
  /** Calls extensions. Default: none can be called, and what needs one is not known. */
  call?: CallHook | undefined;
  /** Has an API server default and check an object, without writing it. Default: only known defaults are applied. */
  dryRun?: DryRun | undefined;
}

const kindOf = (object: JsonObject): string => `${groupOf(object)} ${textAt(object, 'kind')}`;

/**
 * One state, whatever it was read from: its objects by kind, namespace and name, what of it could not be read, and whom a
 * plan may ask about it. Who asks for an object that could not be read gets a `NotKnown`, never «there is none».
 */
export class World {
  readonly #byName = new Map<string, JsonObject>();
  readonly #byKind: ReadonlyMap<string, readonly JsonObject[]>;
  readonly #ofClusters = new Map<string, ReadonlyMap<string, readonly JsonObject[]>>();
  readonly #unread: ReadonlyMap<string, readonly Unread[]>;
  readonly #texts = new Map<string, ReadonlySet<string>>();
  readonly #parts: WorldParts;

  /** @param objects as `prepared` leaves them. Of two of one name, the first counts. */
  constructor(objects: Iterable<JsonObject>, parts: WorldParts = {}) {
    for (const object of objects) {
      const key = keyOf(nameIn(object));
      if (!this.#byName.has(key)) {
        this.#byName.set(key, object);
      }
    }
    this.#byKind = Map.groupBy(this.#byName.values(), kindOf);
    this.#unread = Map.groupBy(parts.unread ?? [], ({ group, kind }) => `${group} ${kind}`);
    this.#parts = parts;
  }

  withObjects(objects: Iterable<JsonObject>, parts: WorldParts = {}): World {
    return new World(objects, { ...this.#parts, ...parts });
  }

  get unread(): readonly Unread[] {
    return this.#parts.unread ?? [];
  }

  get dryRun(): DryRun | undefined {
    return this.#parts.dryRun;
  }

  /** Calls an extension; undefined if none can be called. Rejects with `NotKnown` if it is not known which there are. */
  get call(): CallHook | undefined {
    const { call } = this.#parts;
    return (
      call &&
      (async (one: HookCall): Promise<HookAnswer> => {
        this.#requireRead(runtimeGroup, 'ExtensionConfig');
        return call(one);
      })
    );
  }

  /** Why objects of a kind could not be read (in this namespace); undefined if they could. */
  #whyUnread(group: string, kind: string, namespace?: string): Unread | undefined {
    return this.#unread
      .get(`${group} ${kind}`)
      ?.find((one) => one.namespace === undefined || namespace === undefined || one.namespace === namespace);
  }

  isRead(group: string, kind: string): boolean {
    return this.#whyUnread(group, kind) === undefined;
  }

  #requireRead(group: string, kind: string, namespace?: string): void {
    const unread = this.#whyUnread(group, kind, namespace);
    if (unread !== undefined) {
      throw new NotKnown(unread.why);
    }
  }

  /** @throws {NotKnown} if it could not be read. */
  get(name: ObjectName): JsonObject | undefined {
    const object = this.find(name);
    if (object === undefined) {
      this.#requireRead(name.group, name.kind, name.namespace);
    }
    return object;
  }

  find(name: ObjectName): JsonObject | undefined {
    return this.#byName.get(keyOf(name));
  }

  /** Those that could be read, in the order in which they were given. */
  ofKind(group: string, kind: string): readonly JsonObject[] {
    return this.#byKind.get(`${group} ${kind}`) ?? [];
  }

  /** @throws {NotKnown} if they could not be read. */
  ofCluster(kind: string, cluster: JsonObject): readonly JsonObject[] {
    this.#requireRead(coreGroup, kind, namespaceOf(cluster));
    return this.findOfCluster(kind, cluster);
  }

  /** The same, as far as they could be read. */
  findOfCluster(kind: string, cluster: JsonObject): readonly JsonObject[] {
    let byCluster = this.#ofClusters.get(kind);
    if (byCluster === undefined) {
      byCluster = Map.groupBy(
        this.ofKind(coreGroup, kind),
        (object) => `${namespaceOf(object)}/${textAt(object, 'spec', 'clusterName')}`,
      );
      this.#ofClusters.set(kind, byCluster);
    }
    return byCluster.get(namespacedName(cluster)) ?? [];
  }

  /** Whether there is an object that `objectText` names so. */
  hasText(text: string): boolean {
    const [kind = ''] = text.split(' ', 1);
    let texts = this.#texts.get(kind);
    if (texts === undefined) {
      texts = new Set([...this].filter((object) => object.kind === kind).map(objectText));
      this.#texts.set(kind, texts);
    }
    return texts.has(text);
  }

  [Symbol.iterator](): IterableIterator<JsonObject> {
    return this.#byName.values();
  }
}
