import { isJsonObject, itemsAt, type JsonObject, objectAt, setOwn } from '../../kubernetes/index.ts';
import { componentKey, componentSections } from './components.ts';
import { parseReference, visitReferences } from './references.ts';

/**
 * The part of an OpenAPI v3 document that concerns one group and version: the paths below `/apis/GROUP/VERSION`, the
 * components that they refer to, and those whose kinds belong to this group and version. Other top-level fields are
 * kept.
 */
export function ofGroupVersion(document: JsonObject, group: string, version: string): JsonObject {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: JsonObject = {};
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    if (path === prefix || path.startsWith(`${prefix}/`)) {
      setOwn(paths, path, item);
    }
  }
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
  const kept: JsonObject = {};
  for (const section of componentSections) {
    const entries = components[section];
    if (isJsonObject(entries)) {
      const target: JsonObject = {};
      for (const [name, value] of Object.entries(entries)) {
        if (wanted.has(componentKey(section, name))) {
          setOwn(target, name, value);
        }
      }
      if (Object.keys(target).length > 0) {
        kept[section] = target;
      }
    }
  }
  return { ...document, paths, components: kept };
}
