import { apiVersionOf, convert, hubVersion, versionOf, withDefaults } from '../../extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { PlacedObject } from '../../kubernetes/manifests/index.ts';
import { type LintPolicy, reportsOf } from './check-object.ts';
import { type Rewritten, rewriteManifests } from './rewrite.ts';
import { readSuppressions } from './suppressions.ts';

function withoutNamespace(object: JsonObject): JsonObject {
  const { namespace: _, ...metadata } = objectAt(object, 'metadata');
  return { ...object, metadata };
}

/** The object with the port of its Service as a number, if it is one in quotes. */
function withNumericPort(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec');
  const clientConfig = objectAt(spec, 'clientConfig');
  const service = objectAt(clientConfig, 'service');
  return typeof service.port === 'string' && /^[1-9]\d{0,4}$/.test(service.port)
    ? {
        ...object,
        spec: { ...spec, clientConfig: { ...clientConfig, service: { ...service, port: Number(service.port) } } },
      }
    : object;
}

/** Fixes with only one right answer, by the rule that asks for them. */
const fixes: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  'metadata-namespace': withoutNamespace,
  'field-type': withNumericPort,
  'api-version-deprecated': (object) => convert(object, apiVersionOf(hubVersion)),
};

/**
 * Fixes in a text what has only one right answer and a rule reports, unless a comment turns the rule off: the version,
 * the namespace, a port in quotes; and writes the defaults that the webhook would set.
 */
export function fixManifests(text: string, policy: LintPolicy): Promise<Rewritten> {
  const suppressions = readSuppressions(text);
  const change = (object: JsonObject, { placeOf }: PlacedObject) => {
    if (versionOf(object.apiVersion) === undefined) {
      return object;
    }
    const { line: firstLine } = placeOf([]);
    const reported = new Set(
      reportsOf(object, policy)
        .filter(({ rule, path }) => !suppressions.cover(rule.id, placeOf(path).line, firstLine))
        .map(({ rule }) => rule.id),
    );
    const wanted = Object.entries(fixes).filter(([id]) => reported.has(id));
    return withDefaults(
      wanted.reduce((at, [, fix]) => fix(at), object),
      'object',
    );
  };
  return rewriteManifests(text, change, hubVersion);
}
