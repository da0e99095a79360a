import { isJsonObject, itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { componentKey, componentSections } from './components.ts';
import { parseReference, visitReferences } from './references.ts';

const filtered = (object: JsonObject, wants: (key: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => wants(key)));

/**
 * The part of an OpenAPI v3 document that concerns one group and version: the paths below `/apis/GROUP/VERSION`, the
 * components that they refer to, and those whose kinds belong to this group and version. Other top-level fields are
 * kept.
 */
export function ofGroupVersion(document: JsonObject, group: string, version: string): JsonObject {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths = filtered(objectAt(document, 'paths'), (path) => path === prefix || path.startsWith(`${prefix}/`));
  const components = objectAt(document, 'components');
  const wanted = new Set<string>();
  const open: { section: string; name: string }[] = [];
  const want = (section: string, name: string) => {
    const key = componentKey(section, name);
    if (!wanted.has(key)) {
      wanted.add(key);
      open.push({ section, name });
    }
  };
  const visitor = {
    reference(text: string) {
      const target = parseReference(text.replace(/^#\/definitions\//, '#/components/schemas/'));
      if (target !== undefined) {
        want(target.section, target.name);
      }
      return text;
    },
  };
  visitReferences(paths, visitor);
  for (const [name, schema] of Object.entries(objectAt(components, 'schemas'))) {
    const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    const isOwn = itemsAt(kinds).some((kind) => isJsonObject(kind) && kind.group === group && kind.version === version);
    if (isOwn) {
      want('schemas', name);
    }
  }
  // Security schemes are referred to by name, not by reference.
  const schemes = objectAt(components, 'securitySchemes');
  for (const name of Object.keys(schemes)) {
    want('securitySchemes', name);
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const section = components[next.section];
    if (isJsonObject(section) && Object.hasOwn(section, next.name)) {
      visitReferences(section[next.name] ?? null, visitor);
    }
  }
  const sections = componentSections
    .map(
      (section) =>
        [section, filtered(objectAt(components, section), (name) => wanted.has(componentKey(section, name)))] as const,
    )
    .filter(([, entries]) => Object.keys(entries).length > 0);
  return { ...document, paths, components: Object.fromEntries(sections) };
}
