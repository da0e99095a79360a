// What decodes input from outside, each through the function that others call, and which errors are answers to it.

import { readFileSync, writeFileSync } from 'node:fs';
import fc, { type Arbitrary } from 'fast-check';
import { plain, UsageError } from '../../src/base/index.ts';
import {
  caProblem,
  framingProblem,
  readableCertificates,
  readCertificates,
  readKey,
  readPem,
  usable,
} from '../../src/base/x509/index.ts';
import { impactLines, impactOf, type Watched } from '../../src/checks/impact/index.ts';
import { createHiding, planMarkdown, planPage, planText } from '../../src/checks/plan/index.ts';
import { reviewConversion } from '../../src/extensionconfig/index.ts';
import { loadKubeConfig } from '../../src/kubernetes/client/index.ts';
import { KubeConfigError } from '../../src/kubernetes/client/kubeconfig.ts';
import {
  applyMergePatch,
  applyOperations,
  decodeAdmissionReview,
  isJsonObject,
  isOperation,
  isSame,
  type Json,
  JsonError,
  type JsonObject,
  jsonPatchOf,
  nameOf,
  objectAt,
  PatchError,
  type PatchOperation,
  parseJson,
  textAt,
} from '../../src/kubernetes/index.ts';
import { onlyValue, readDocument, splitDocuments } from '../../src/kubernetes/manifests/index.ts';
import { convertV2ToV3, InvalidOpenApi, readOpenApi } from '../../src/kubernetes/openapi/index.ts';
import { encodeProtobuf } from '../../src/kubernetes/openapi/protobuf.ts';
import { createAdmission, createRuleSet } from '../../src/policy/index.ts';
import { readDiscovery } from '../../src/runtimehooks/client/index.ts';
import { clusterApiHooks, createHookCatalog, hooks, newestKnownRelease } from '../../src/runtimehooks/index.ts';
import { decodeRequest, decodeResponse, sampleRequest, sampleResponse } from '../../src/runtimehooks/messages/index.ts';
import { parseProtobuf } from '../../src/sandbox/writes/protobuf.ts';
import { NotKnown, type Plan, World } from '../../src/topology/index.ts';
import { renderValueTemplate, TemplateError } from '../../src/topology/templates/index.ts';
import { groupsOf, planOf, type RecordedChange, recordedChanges } from '../../test/topology/recorded.ts';
import { changedValue, damagedBytes, damagedText, jsonBody } from './inputs.ts';

/** Something that decodes input from outside. */
export interface Decoder {
  name: string;
  input: Arbitrary<unknown>;
  /** Throws when the result is wrong. */
  decode(input: never): unknown;
  /** Errors that are answers to bad input; any other is a find. */
  refusals: readonly (new (
    ...args: never[]
  ) => Error)[];
}

function decoder<I>(
  name: string,
  input: Arbitrary<I>,
  decode: (input: I) => unknown,
  refusals: Decoder['refusals'] = [],
): Decoder {
  return { name, input, decode, refusals };
}

const fixtures = new URL('../../test/support/fixtures/', import.meta.url);
const textOf = (name: string) => readFileSync(new URL(name, fixtures), 'utf8');
const jsonOf = (name: string) => JSON.parse(textOf(name)) as JsonObject;
const call = (name: string) => jsonOf(`webhook-calls/${name}.json`).body as Json;

function check(isTrue: boolean, claim: string): void {
  if (!isTrue) {
    throw new Error(`not true: ${claim}`);
  }
}

const catalog = createHookCatalog();
const admission = createAdmission({
  rules: createRuleSet({
    profile: 'strict',
    enforcement: 'deny',
    maxHandlerTimeoutSeconds: 30,
    hooks: catalog,
    clusterApi: newestKnownRelease,
  }),
  isRuntimeSdkEnabled: true,
  now: () => new Date(),
});

/** A review has an answer, and the patch of a mutation applies. */
function review(webhook: 'mutate' | 'validate' | 'convert', body: Buffer): void {
  const json = parseJson(body);
  if (webhook === 'convert') {
    reviewConversion(json);
    return;
  }
  const decoded = decodeAdmissionReview(json);
  if ('request' in decoded) {
    const { patch } = admission[webhook](decoded.request).response;
    if (patch !== undefined) {
      const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as PatchOperation[];
      applyOperations(decoded.request.object as Json, operations);
    }
  }
}

const hookOf = fc.constantFrom(...clusterApiHooks);
const messages = (sample: (hook: (typeof clusterApiHooks)[number]) => JsonObject) =>
  hookOf.chain((hook) => changedValue([sample(hook)]).map((value) => ({ hook, value })));

const answers = textOf('runtime-sdk/main/discovery.jsonl')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { answer: { body?: string } }).answer.body ?? '')
  .flatMap((body) => {
    try {
      return [JSON.parse(body) as Json];
    } catch {
      return [];
    }
  });

const kubeconfig = `apiVersion: v1
kind: Config
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: 'https://127.0.0.1:1', insecure-skip-tls-verify: true } }]
users: [{ name: a, user: { token: secret } }]
`;
const manifest = `# a comment
apiVersion: v1
kind: List
items:
  - &one { apiVersion: v1, kind: ConfigMap, metadata: { name: 'a', labels: { "b": c } } }
  - *one
---
data: |
  text
  more
list: [1, 2.5, ~, !!str 3]
`;
const templates = textOf('go-templates/recorded.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { kind: string; expression: string })
  .filter(({ kind }) => kind === 'template')
  .map(({ expression }) => expression);
const pem = textOf('certs/elliptic-ca.crt');

function yamlText(text: string): void {
  for (const document of splitDocuments(text)) {
    const read = 'error' in document ? undefined : readDocument(document);
    for (const { placeOf, path } of read === undefined || 'errors' in read ? [] : read.objects) {
      check(placeOf([...path, 'metadata', 'name']).line > 0, 'a field has a line');
    }
  }
}

const rolledOut = recordedChanges.filter(({ name }) => ['audit-level', 'upgrade-1.35', 'F-cp-files'].includes(name));
/** Objects that belong to other Clusters of other classes: copies of recorded ones in another namespace. */
const others = rolledOut.map(({ after }) =>
  after.map((one) => ({ ...one, metadata: { ...objectAt(one, 'metadata'), namespace: 'other' } })),
);

/** Changed objects, as far as `plan` reads them. */
const objectsIn = (value: Json | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : [])
    .filter(isJsonObject)
    .filter((one) => [textAt(one, 'apiVersion'), textAt(one, 'kind'), nameOf(one)].every((text) => text !== ''));

/** A plan is made and shown, whatever the objects are. */
async function planned(change: RecordedChange): Promise<Plan> {
  const result = createHiding([...change.before, ...change.after]).plan(await planOf(change));
  planText(result, new Map(), { paint: plain, width: 80 });
  planMarkdown(result, new Map());
  planPage(result, new Map(), { inputs: '', release: '', madeAt: new Date(0) });
  return result;
}

/** Objects as the webhook watches them. */
function watchedOf(objects: readonly JsonObject[]): Watched {
  const clusterOf = (one: JsonObject) =>
    one.kind === 'Cluster'
      ? nameOf(one)
      : textAt(one, 'spec', 'clusterName') || textAt(one, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name');
  const within = (namespace: string, cluster: string) =>
    objects.filter((one) => textAt(one, 'metadata', 'namespace') === namespace && clusterOf(one) === cluster);
  return {
    worldOf: (some, call) => new World(some, { call }),
    definitions: () => objects.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    ofKind: (group, kind) =>
      objects.filter((one) => one.kind === kind && textAt(one, 'apiVersion').startsWith(`${group}/`)),
    ownedBy: (owner) => within(owner.split('/')[0] ?? '', owner.split('/')[1] ?? ''),
    namespaceLabels: () => ({}),
  };
}

/** A review of a write, with the objects of a cluster: how many Machines it replaces. */
async function impact(object: JsonObject, old: JsonObject, objects: readonly JsonObject[]): Promise<number> {
  const result = await impactOf({ object, old }, watchedOf(objects), {
    clusterApiVersion: { major: 1, minor: 13 },
    now: new Date('2026-11-24T12:00:00Z'),
    shouldStop: () => false,
    onBug(error) {
      throw error;
    },
    signal: new AbortController().signal,
  });
  impactLines(result, (text) => text);
  return result.losses.reduce((sum, { verb, machines }) => sum + (verb === 'replaces' ? machines : 0), 0);
}

/** Recorded writes of one object, and how many Machines they replaced. */
const writes = recordedChanges
  .filter(({ exchanges, name }) => exchanges.length === 0 && !name.startsWith('I'))
  .flatMap(({ before, after, expected }) => {
    const replaced = Object.values(expected).reduce((sum, { machines }) => sum + machines.replaced, 0);
    const written = after.flatMap((object) => {
      const old = before.find((one) => one.kind === object.kind && nameOf(one) === nameOf(object));
      const isUsers =
        old?.kind === 'Cluster' || textAt(object, 'kind').endsWith('Template') || old?.kind === 'ClusterClass';
      return isUsers && old !== undefined && !isSame(object.spec, old.spec) ? [{ object, old }] : [];
    });
    // A class and templates that the write names are applied with it.
    const applied = after.filter(
      (one) =>
        /^ClusterClass$|Template$/.test(textAt(one, 'kind')) &&
        textAt(one, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name') === '' &&
        !before.some((old) => old.kind === one.kind && nameOf(old) === nameOf(one)),
    );
    const [write] = written;
    const isReviewed = write?.object.kind === 'Cluster' || write?.object.kind === 'ClusterClass';
    return written.length === 1 && write !== undefined && isReviewed
      ? [{ ...write, before: [...before, ...applied], replaced }]
      : [];
  });

const openApiV2 = jsonOf('openapi/aggregated-old-v2.json');
const openApiV3 = jsonOf('openapi/aggregated-old-v3.json');
const protobufs = (JSON.parse(textOf('kubectl-protobuf.json')) as { body: string }[]).map(({ body }) =>
  Buffer.from(body, 'base64'),
);
const object = (call('create-validate') as { request: { object: JsonObject } }).request.object;

/** All decoders. `folder` is for those that read files. */
export function decodersIn(folder: string): Decoder[] {
  const file = `${folder}/kubeconfig`;
  return [
    decoder('mutate', jsonBody([call('create-mutate')]), (body) => review('mutate', body), [JsonError]),
    decoder(
      'validate',
      jsonBody([call('create-validate'), call('delete-validate')]),
      (body) => review('validate', body),
      [JsonError],
    ),
    decoder(
      'convert',
      jsonBody([call('conversion-to-v1alpha1'), call('conversion-to-v1beta2')]),
      (body) => review('convert', body),
      [JsonError],
    ),
    decoder('json', jsonBody([object]), parseJson, [JsonError]),
    decoder(
      'hook-request',
      messages((hook) => sampleRequest(hook)),
      ({ hook, value }) => decodeRequest(hook, value),
    ),
    decoder(
      'hook-answer',
      messages((hook) => sampleResponse(hook)),
      ({ hook, value }) => decodeResponse(hook, value),
    ),
    decoder('discovery', changedValue(answers), (value) => {
      const decoded = decodeResponse(hooks.Discovery, value);
      return 'problem' in decoded
        ? undefined
        : readDiscovery(decoded.response, 'a', { catalog, release: newestKnownRelease });
    }),
    decoder('certificates', damagedText(fc.constantFrom(pem, pem + pem, pem.replaceAll('\n', '\r\n'))), (text) => {
      framingProblem(readPem(text));
      for (const certificate of usable(readCertificates(text)) ?? []) {
        caProblem(certificate, new Date());
        readKey(text, certificate);
      }
      return [...readableCertificates(text)];
    }),
    decoder(
      'kubeconfig',
      damagedText(fc.constant(kubeconfig)),
      (text) => {
        writeFileSync(file, text);
        return loadKubeConfig({ kubeconfig: file }, {});
      },
      [KubeConfigError],
    ),
    decoder('manifests', damagedText(fc.constant(manifest)), yamlText),
    decoder('yaml', damagedText(fc.constantFrom(manifest, kubeconfig)), (text) => onlyValue(text, 100_000), [
      UsageError,
    ]),
    decoder(
      'templates',
      damagedText(fc.constantFrom(...templates)),
      (text) => renderValueTemplate(text, { a: 'b', l: [1, 'two', null], m: { k: { n: 1.5 } } }),
      [TemplateError, NotKnown],
    ),
    decoder('plan', changedValue(rolledOut.map(({ before, after }) => ({ before, after }) as Json)), (states) =>
      planned({
        ...(rolledOut[0] as RecordedChange),
        before: objectsIn(objectAt(states).before),
        after: objectsIn(objectAt(states).after),
      }),
    ),
    decoder(
      'plan-others',
      fc.tuple(fc.constantFrom(...rolledOut), changedValue(others as Json[]), changedValue(others as Json[])),
      async ([change, before, after]) => {
        const isOther = (one: JsonObject) => objectAt(one, 'metadata').namespace === 'other';
        const result = await planned({
          ...change,
          before: [...change.before, ...objectsIn(before).filter(isOther)],
          after: [...change.after, ...objectsIn(after).filter(isOther)],
        });
        const own = result.clusters.filter(({ cluster }) => cluster.startsWith('default/'));
        check(
          isSame(groupsOf({ ...result, clusters: own }) as Json, change.expected as Json),
          'other Clusters change nothing',
        );
      },
    ),
    decoder(
      'impact',
      fc
        .constantFrom(...writes)
        .chain((write) =>
          fc.tuple(
            fc.constant(write),
            changedValue([write.object]),
            changedValue([write.old]),
            changedValue(others as Json[]),
          ),
        ),
      async ([{ object, old, before, replaced }, changed, changedOld, others]) => {
        const [one] = objectsIn([changed]);
        const [other = old] = objectsIn([changedOld]);
        if (one !== undefined) {
          await impact(one, other, before);
        }
        const isOther = (item: JsonObject) => objectAt(item, 'metadata').namespace === 'other';
        const found = await impact(object, old, [...before, ...objectsIn(others).filter(isOther)]);
        check(found === replaced, `the write of ${object.kind} replaces ${replaced} Machines, not ${found}`);
      },
    ),
    decoder(
      'json-patch',
      changedValue([
        [
          { op: 'add', path: '/spec/clientConfig/caBundle', value: 'YQ==' },
          { op: 'move', from: '/spec', path: '/a' },
          { op: 'copy', from: '', path: '/b/-' },
          { op: 'test', path: '/kind', value: 1 },
          { op: 'remove', path: '/metadata/labels' },
        ],
      ]),
      (operations) => {
        if (Array.isArray(operations) && operations.every(isOperation)) {
          applyOperations(object, operations as unknown as PatchOperation[]);
        }
      },
      [PatchError],
    ),
    decoder('merge-patch', fc.tuple(changedValue([object]), changedValue([object])), ([target, patch]) => {
      const merged = applyMergePatch(target, patch);
      check(isSame(applyMergePatch(merged, patch), merged), 'a merge patch that is applied again changes nothing');
    }),
    decoder(
      'json-diff',
      fc.tuple(changedValue([object]), changedValue([object])),
      ([before, after]) => {
        if (isJsonObject(before) && isJsonObject(after)) {
          const patch = jsonPatchOf(before, after);
          check(isSame(applyOperations(before, patch as PatchOperation[]), after), 'a JSON patch leads to its target');
        }
      },
      // The target nests too deep.
      [PatchError],
    ),
    decoder(
      'openapi-v2',
      changedValue([openApiV2]).filter(isJsonObject),
      (document) => encodeProtobuf(convertV2ToV3(document as JsonObject)),
      [InvalidOpenApi],
    ),
    decoder('openapi-v3', jsonBody([openApiV3]), readOpenApi, [InvalidOpenApi, JsonError]),
    decoder('protobuf', damagedBytes(protobufs), (body) => {
      try {
        parseProtobuf(body, 'Namespace');
      } catch (error) {
        // The library's errors are of no class of their own, and of text that is not UTF-8 those of TextDecoder.
        const isText = (error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
        check(isText || !(error instanceof TypeError), `protobuf is refused: ${(error as Error).stack}`);
      }
    }),
  ];
}
