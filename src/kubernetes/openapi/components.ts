import { canonical, type Json, type JsonObject, objectAt } from '../objects/json/json.ts';
import { renameReferences } from './references.ts';

/** The parts of `components`, in the order of the specification. */
export const componentSections = [
  'schemas',
  'responses',
  'parameters',
  'examples',
  'requestBodies',
  'headers',
  'securitySchemes',
  'links',
  'callbacks',
] as const;

/** `SECTION/NAME`: a name has a meaning only within its section. */
export function componentKey(section: string, name: string): string {
  return `${section}/${name}`;
}

interface Component {
  section: string;
  name: string;
  /** Without references of OpenAPI v2. */
  value: Json;
  owner: number;
  /** Its content, whatever the order of keys. */
  text: string;
  targets: Set<string>;
  /** The same for components of one key that mean the same. */
  variant: number;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

function addComponents(named: Map<string, Component[]>, document: JsonObject, owner: number): void {
  function add(section: string, name: string, given: Json): void {
    const targets = new Set<string>();
    const value = renameReferences(given, (...target) => {
      targets.add(componentKey(...target));
      return target[1];
    });
    const key = componentKey(section, name);
    const components = named.get(key) ?? [];
    named.set(key, components);
    if (components.at(-1)?.owner === owner) {
      // An operationId that a document has twice.
      components.pop();
    }
    components.push({ section, name, value, owner, text: canonical(value), targets, variant: 0 });
  }
  for (const section of componentSections) {
    for (const [name, value] of Object.entries(objectAt(document, 'components', section))) {
      add(section, name, value);
    }
  }
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    for (const method of methods) {
      const { operationId } = objectAt(item, method);
      if (typeof operationId === 'string') {
        // Operations of the same path and method are the same.
        add('operationId', operationId, `${method} ${path}`);
      }
    }
  }
}

/** Gives components of one key that differ in something different variants. @returns whether there are more than before. */
function split(components: readonly Component[], something: (component: Component) => unknown): boolean {
  const before = new Set(components.map(({ variant }) => variant)).size;
  const groups = Map.groupBy(components, (component) => `${component.variant} ${something(component)}`);
  for (const [variant, members] of [...groups.values()].entries()) {
    for (const member of members) {
      member.variant = variant;
    }
  }
  return groups.size > before;
}

/** A component of one name and one meaning. */
export interface Variant extends Pick<Component, 'section' | 'name' | 'value'> {
  /** The name if another meaning has it already: `NAME_v2`, `NAME_v3`, …, as API servers rename duplicates. */
  newName: string;
  owners: number[];
}

/**
 * The components of documents, of each key with its variants, in the order of the documents. All of a key are taken for equal
 * until they differ in content, then in the variant of a reference. Linear in the references. `turn` is awaited after each
 * document.
 */
export async function variantsOf(documents: readonly JsonObject[], turn: () => Promise<void>): Promise<Variant[]> {
  const named = new Map<string, Component[]>();
  for (const [owner, document] of documents.entries()) {
    addComponents(named, document, owner);
    await turn();
  }
  const known = documents.map(() => new Map<string, Component>());
  const referrers = new Map<string, Set<string>>();
  for (const [key, components] of named) {
    split(components, ({ text }) => text);
    for (const component of components) {
      known[component.owner]?.set(key, component);
      for (const target of component.targets) {
        referrers.set(target, (referrers.get(target) ?? new Set()).add(key));
      }
    }
  }
  const left = new Set(referrers.keys());
  for (const key of left) {
    // It comes again if it gets more variants.
    left.delete(key);
    for (const referrer of referrers.get(key) ?? []) {
      if (
        split(named.get(referrer) ?? [], ({ owner, targets }) => targets.has(key) && known[owner]?.get(key)?.variant)
      ) {
        left.add(referrer);
      }
    }
  }
  const taken = new Set(named.keys());
  const variants: Variant[] = [];
  for (const [key, components] of named) {
    let ending = '';
    let number = 2;
    for (const same of Map.groupBy(components, ({ variant }) => variant).values()) {
      const { section, name, value } = same[0] as Component;
      taken.add(`${key}${ending}`);
      variants.push({ section, name, value, newName: `${name}${ending}`, owners: same.map(({ owner }) => owner) });
      while (taken.has(`${key}_v${number}`)) {
        number++;
      }
      ending = `_v${number}`;
    }
  }
  return variants;
}
