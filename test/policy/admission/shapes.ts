import { exampleCaBundle } from '../rules/examples.ts';

/** One kind of hostile body, of any size. */
export interface Shape {
  name: string;
  /** The webhook (the path) that it is sent to. The body says whether it is a write of the status. */
  webhook: 'mutate' | 'validate' | 'convert';
  /** A body of about that many bytes; smaller if the shape has a size of its own. */
  body(sizeBytes: number): Buffer;
}

type Part = Record<string, unknown>;

const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };
const service = { namespace: 'capi-extensions', name: 'my-extension', port: 443 };
const discovery = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'Discovery' };
const blocking = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' };
const conversionDataAnnotation = 'runtime.cluster.x-k8s.io/conversion-data';
const injectAnnotation = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';

function extensionConfig(parts: Part = {}, version = 'v1beta2'): Part {
  return {
    apiVersion: `${kind.group}/${version}`,
    kind: kind.kind,
    metadata: { name: 'my-extension', annotations: { [injectAnnotation]: 'capi-extensions/my-extension-cert' } },
    spec: { clientConfig: { service }, namespaceSelector: {} },
    ...parts,
  };
}

const withClientConfig = (clientConfig: Part) => extensionConfig({ spec: { clientConfig, namespaceSelector: {} } });
const withSelector = (namespaceSelector: Part) =>
  extensionConfig({ spec: { clientConfig: { service }, namespaceSelector } });
const withSettings = (settings: Part) =>
  extensionConfig({ spec: { clientConfig: { service }, namespaceSelector: {}, settings } });
const withMetadata = (metadata: Part) => extensionConfig({ metadata: { name: 'my-extension', ...metadata } });
const withHandlers = (handlers: unknown) => extensionConfig({ status: { handlers } });

function request(object: unknown, more: Part = {}): Part {
  return {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    kind,
    resource: { group: kind.group, version: kind.version, resource: 'extensionconfigs' },
    requestKind: kind,
    name: 'my-extension',
    operation: 'CREATE',
    userInfo: { username: 'admin', groups: ['system:authenticated'] },
    object,
    oldObject: null,
    dryRun: false,
    ...more,
  };
}

const admissionReview = (of: Part): Part => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: of,
});
const create = (object: Part) => admissionReview(request(object));
const update = (object: Part, oldObject: Part) => admissionReview(request(object, { operation: 'UPDATE', oldObject }));
const statusUpdate = (object: Part, oldObject: Part = extensionConfig()) =>
  admissionReview(request(object, { operation: 'UPDATE', oldObject, subResource: 'status' }));
const conversion = (objects: unknown[], version: string): Part => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'a-uid', desiredAPIVersion: `${kind.group}/${version}`, objects },
});

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
/** As many items as fit into a size; `item` is the JSON of the longest one. */
const items = <T>(size: number, make: (index: number) => T): T[] => {
  const sample = JSON.stringify(make(9_999_999)) ?? '';
  return Array.from({ length: Math.max(1, Math.floor(size / (sample.length + 1))) }, (_, index) => make(index));
};
const entries = (size: number, make: (index: number) => [string, unknown]): Part =>
  Object.fromEntries(items(size, make));
/** A string repeated up to a size in JSON. */
const fill = (size: number, piece: string): string =>
  piece.repeat(Math.max(1, Math.floor(size / (Buffer.byteLength(JSON.stringify(piece)) - 2))));
const base64Of = (size: number, piece: string): string => Buffer.from(fill((size * 3) / 4, piece)).toString('base64');
/** The JSON text of a body, with `text` in place of the string "@@": for JSON that JSON.stringify never writes. */
const withText = (value: unknown, text: string): Buffer =>
  Buffer.from(JSON.stringify(value).replace('"@@"', () => text));

const validate = (name: string, body: (size: number) => Part | Buffer): Shape => shape('validate', name, body);
const mutate = (name: string, body: (size: number) => Part | Buffer): Shape => shape('mutate', name, body);
const convert = (name: string, body: (size: number) => Part | Buffer): Shape => shape('convert', name, body);
function shape(webhook: Shape['webhook'], name: string, body: (size: number) => Part | Buffer): Shape {
  return {
    name: `${webhook}: ${name}`,
    webhook,
    body(size) {
      const content = body(size);
      return Buffer.isBuffer(content) ? content : bytes(content);
    },
  };
}

const key = 'kubernetes.io/metadata.name';
const values = (size: number, prefix = 'v') => items(size, (index) => `${prefix}${index}`);
const requirement = (operator: string, of?: string[]) => ({
  key,
  operator,
  ...(of === undefined ? {} : { values: of }),
});

const selectorShapes: Shape[] = [
  validate('selector: In with many values, many Exists, In [zzz]', (size) =>
    create(
      withSelector({
        matchExpressions: [
          requirement('In', values(size / 2)),
          ...items(size / 2, () => requirement('Exists')),
          requirement('In', ['zzz']),
        ],
      }),
    ),
  ),
  validate('selector: In and NotIn of the same many values', (size) =>
    create(
      withSelector({
        matchExpressions: [requirement('In', values(size / 2)), requirement('NotIn', values(size / 2).toReversed())],
      }),
    ),
  ),
  validate('selector: In with many values, many NotIn of one', (size) =>
    create(
      withSelector({
        matchExpressions: [
          requirement('In', values(size / 4)),
          ...items((size * 3) / 4, (index) => requirement('NotIn', [`v${index}`])),
        ],
      }),
    ),
  ),
  validate('selector: many In of many values that share one', (size) =>
    create(
      withSelector({
        matchExpressions: Array.from({ length: 50 }, (_, index) =>
          requirement('In', [...values(size / 50, `w${index}-`), 'shared']),
        ),
      }),
    ),
  ),
  validate('selector: many keys', (size) =>
    create(withSelector({ matchExpressions: items(size, (index) => ({ key: `k${index}`, operator: 'Exists' })) })),
  ),
  validate('selector: many matchLabels', (size) =>
    create(withSelector({ matchLabels: entries(size, (index) => [`k${index}`, 'v']) })),
  ),
  validate('selector: matchLabels with invalid keys and values', (size) =>
    create(withSelector({ matchLabels: entries(size, (index) => [`-/-/${index}`, '-']) })),
  ),
  validate('selector: many invalid values', (size) =>
    create(
      withSelector({
        matchExpressions: [
          requirement(
            'In',
            items(size, () => '-'),
          ),
        ],
      }),
    ),
  ),
  validate('selector: invalid operators', (size) =>
    create(withSelector({ matchExpressions: items(size, () => ({ key, operator: 'in' })) })),
  ),
  validate('selector: numbers instead of requirements', (size) =>
    create(withSelector({ matchExpressions: items(size, () => 0) })),
  ),
  validate('selector: empty requirements', (size) =>
    create(withSelector({ matchExpressions: items(size, () => ({})) })),
  ),
  validate('selector: null values', (size) =>
    create(withSelector({ matchExpressions: [{ key, operator: 'In', values: items(size, () => null) }] })),
  ),
  ...['a-', 'a.', 'a/', '/', '-', '.', 'ä', 'a'].map((piece) =>
    validate(`selector: key of ${JSON.stringify(piece)}`, (size) =>
      create(withSelector({ matchExpressions: [{ key: `${fill(size, piece)}!`, operator: 'Exists' }] })),
    ),
  ),
  ...['a-', 'a.', '-', 'ä'].map((piece) =>
    validate(`selector: value of ${JSON.stringify(piece)}`, (size) =>
      create(withSelector({ matchExpressions: [requirement('In', [`${fill(size, piece)}!`])] })),
    ),
  ),
  validate('selector: long operator', (size) =>
    create(withSelector({ matchExpressions: [{ key, operator: fill(size, 'In') }] })),
  ),
  validate('selector: long key in many requirements that contradict each other', (size) =>
    create(
      withSelector({
        matchExpressions: [
          { key: fill(size / 3, 'k'), operator: 'Exists' },
          { key: fill(size / 3, 'k'), operator: 'DoesNotExist' },
        ],
      }),
    ),
  ),
];

const bundleShapes: Shape[] = [
  validate('caBundle: newlines and one !', (size) =>
    create(withClientConfig({ service, caBundle: `${fill(size, '\n')}!` })),
  ),
  validate('caBundle: CR, LF, = and one !', (size) =>
    create(withClientConfig({ service, caBundle: `${fill(size, '\r\n=')}!` })),
  ),
  validate('caBundle: A and one !', (size) => create(withClientConfig({ service, caBundle: `${fill(size, 'A')}!` }))),
  ...[
    '-----BEGIN A-----\n',
    '-----BEGIN CERTIFICATE-----\n',
    '-----BEGIN CERTIFICATE-----\n-----END B-----\n',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY',
    'PRIVATE KEY',
    '-----BEGIN A PRIVATE ',
    '-----END CERTIFICATE-----\n',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    '-----BEGIN X-----\n-----END X-----\n',
    '-',
    ' ',
    '\n',
    '\0',
  ].flatMap((piece) => [
    validate(`caBundle: base64 of ${JSON.stringify(piece)}`, (size) =>
      create(withClientConfig({ service, caBundle: base64Of(size, piece) })),
    ),
    validate(`caBundle: within its limit, base64 of ${JSON.stringify(piece)}`, (size) =>
      admissionReview(
        request(withClientConfig({ service, caBundle: base64Of(50_000, piece) }), {
          padding: fill(size - 52_000, ' '),
        }),
      ),
    ),
  ]),
  validate('caBundle: raw PEM, a key without an END line', (size) =>
    create(withClientConfig({ service, caBundle: fill(size, '-----BEGIN PRIVATE KE') })),
  ),
  validate('caBundle: as many certificates as fit into its limit', (size) =>
    admissionReview(
      request(
        withClientConfig({
          service,
          caBundle: base64Of(51_000, Buffer.from(exampleCaBundle, 'base64').toString()).replace(/=+$/, ''),
        }),
        { padding: fill(size - 52_000, ' ') },
      ),
    ),
  ),
  validate('caBundle: many certificates, over its limit, old and new', (size) => {
    const caBundle = base64Of(size / 2, Buffer.from(exampleCaBundle, 'base64').toString());
    return update(withClientConfig({ service, caBundle }), withClientConfig({ service, caBundle }));
  }),
];

/** Parts of URLs and paths that are hard to parse. */
const urlPieces = [
  ':',
  '@',
  ':@',
  '[',
  ']',
  '[::]',
  '%41',
  '%',
  '#',
  '?',
  ' ',
  '.',
  'a.',
  '/',
  '//',
  '\\',
  '-',
  'ä',
  '\u0001',
  'a:',
  '%25',
  '&=',
  '\u{1F600}',
  'svc.',
];

const urlShapes: Shape[] = urlPieces.flatMap((piece) => {
  const label = JSON.stringify(piece);
  return [
    validate(`url: https:// and ${label}, then /%zz`, (size) =>
      create(withClientConfig({ url: `https://${fill(size, piece)}/%zz` })),
    ),
    validate(`url: ${label}`, (size) => create(withClientConfig({ url: fill(size, piece) }))),
    validate(`url: https://h/ and ${label}`, (size) =>
      create(withClientConfig({ url: `https://h/${fill(size, piece)}` })),
    ),
    validate(`url: within its limit, ${label}`, (size) =>
      admissionReview(
        request(withClientConfig({ url: `https://${fill(240, piece)}` }), { padding: fill(size - 2000, ' ') }),
      ),
    ),
    validate(`service.path: / and ${label}`, (size) =>
      create(withClientConfig({ service: { ...service, path: `/${fill(size, piece)}` } })),
    ),
  ];
});

const nameShapes: Shape[] = ['a-', 'a.', '-', '.', 'a', 'ä', '\u0000', '"'].flatMap((piece) => {
  const label = JSON.stringify(piece);
  const text = (size: number) => `${fill(size, piece)}!`;
  return [
    validate(`name: ${label}`, (size) => create(withMetadata({ name: text(size) }))),
    validate(`generateName: ${label}`, (size) =>
      admissionReview(request(withMetadata({ name: '', generateName: text(size) }), { name: '' })),
    ),
    validate(`request.name: ${label}`, (size) =>
      admissionReview(request(withClientConfig({ url: 'x' }), { name: text(size) })),
    ),
    validate(`service.name: ${label}`, (size) =>
      create(withClientConfig({ service: { ...service, name: text(size) } })),
    ),
    validate(`service.namespace: ${label}`, (size) =>
      create(withClientConfig({ service: { ...service, namespace: text(size) } })),
    ),
    validate(`inject annotation: ${label}`, (size) =>
      create(withMetadata({ annotations: { [injectAnnotation]: `a/${text(size)}` } })),
    ),
  ];
});

const handler = (parts: Part = {}) => ({
  name: 'before-upgrade.my-extension',
  requestHook: blocking,
  timeoutSeconds: 5,
  failurePolicy: 'Fail',
  ...parts,
});

const handlerShapes: Shape[] = [
  validate('status: many handlers of the singleton hook, the first name huge', (size) =>
    statusUpdate(
      withHandlers([
        handler({ name: fill(size / 2, 'n'), requestHook: discovery }),
        ...items(size / 2, (index) => handler({ name: `h${index}.my-extension`, requestHook: discovery })),
      ]),
    ),
  ),
  validate('status: the most handlers allowed, the first name huge', (size) =>
    statusUpdate(
      withHandlers([
        handler({ name: fill(size - 80_000, 'n'), requestHook: discovery }),
        ...Array.from({ length: 511 }, (_, index) =>
          handler({ name: `h${index}.my-extension`, requestHook: discovery }),
        ),
      ]),
    ),
  ),
  validate('status: 512 handlers with huge names', (size) =>
    statusUpdate(
      withHandlers(Array.from({ length: 512 }, (_, index) => handler({ name: fill(size / 512, `n${index}`) }))),
    ),
  ),
  validate('status: 512 handlers with the longest names and hooks, all invalid', (size) =>
    admissionReview(
      request(
        withHandlers(
          Array.from({ length: Math.min(512, Math.floor(size / 8000)) }, () =>
            handler({
              name: '\u0001'.repeat(512),
              requestHook: { apiVersion: '\u0001'.repeat(512), hook: '\u0001'.repeat(256) },
              timeoutSeconds: -1,
              failurePolicy: 'x',
            }),
          ),
        ),
        {
          operation: 'UPDATE',
          oldObject: extensionConfig(),
          subResource: 'status',
          padding: fill(size - 4_000_000, ' '),
        },
      ),
    ),
  ),
  validate('status: a huge object name, many handlers', (size) =>
    statusUpdate(
      extensionConfig({
        metadata: { name: fill(size - 100_000, 'n') },
        status: { handlers: Array.from({ length: 512 }, (_, index) => handler({ name: `h${index}` })) },
      }),
    ),
  ),
  validate('status: handlers with the same name', (size) => statusUpdate(withHandlers(items(size, () => handler())))),
  validate('status: handlers {}', (size) => statusUpdate(withHandlers(items(size, () => ({}))))),
  validate('status: handlers 0', (size) => statusUpdate(withHandlers(items(size, () => 0)))),
  validate('status: handlers null', (size) => statusUpdate(withHandlers(items(size, () => null)))),
  validate('status: handlers {}, old and new', (size) =>
    statusUpdate(withHandlers(items(size / 2, () => ({}))), withHandlers(items(size / 2, () => ({})))),
  ),
  validate('status: handlers with huge unknown hooks', (size) =>
    statusUpdate(
      withHandlers(
        Array.from({ length: 100 }, () =>
          handler({ requestHook: { apiVersion: `${fill(size / 200, 'g')}/v1`, hook: fill(size / 200, 'H') } }),
        ),
      ),
    ),
  ),
  validate('status: a requestHook of slashes', (size) =>
    statusUpdate(withHandlers([handler({ requestHook: { apiVersion: fill(size, '/'), hook: 'x' } })])),
  ),
  validate('create: handlers {}', (size) => create(withHandlers(items(size, () => ({}))))),
  mutate('status: handlers {}', (size) => statusUpdate(withHandlers(items(size, () => ({}))))),
  mutate('status: 512 handlers {}, a huge condition', (size) =>
    statusUpdate(
      extensionConfig({
        status: {
          handlers: Array.from({ length: 512 }, () => ({})),
          conditions: [{ message: fill(size - 2000, 'm') }],
        },
      }),
    ),
  ),
  mutate('status: handlers null', (size) => statusUpdate(withHandlers(items(size, () => null)))),
  mutate('status: handlers without timeout and failure policy', (size) =>
    statusUpdate(withHandlers(items(size, () => ({ timeoutSeconds: null, failurePolicy: null })))),
  ),
  mutate('create: nothing but metadata', (size) =>
    create(extensionConfig({ metadata: { annotations: entries(size, (index) => [`a${index}`, '']) }, spec: null })),
  ),
  mutate('create: settings', (size) => create(withSettings(entries(size, (index) => [`k${index}`, 'v'])))),
  mutate('create: a service with unknown fields', (size) =>
    create(withClientConfig({ service: { name: 'a', ...entries(size, (index) => [`k${index}`, 'v']) } })),
  ),
];

const conditionShapes: Shape[] = [
  ...['a.', 'a-', 'a/', 'A', 'a'].map((piece) =>
    validate(`status: condition type of ${JSON.stringify(piece)}`, (size) =>
      statusUpdate(extensionConfig({ status: { conditions: [condition({ type: `${fill(size, piece)}!` })] } })),
    ),
  ),
  ...['a', 'a_', 'a:', 'a,'].map((piece) =>
    validate(`status: condition reasons within their limit of ${JSON.stringify(piece)}`, (size) =>
      statusUpdate(
        extensionConfig({ status: { conditions: items(size, () => condition({ reason: `${fill(1000, piece)}!` })) } }),
      ),
    ),
  ),
  validate('status: conditions {}', (size) =>
    statusUpdate(extensionConfig({ status: { conditions: items(size, () => ({})) } })),
  ),
  validate('status: deprecated conditions {}', (size) =>
    statusUpdate(extensionConfig({ status: { deprecated: { v1beta1: { conditions: items(size, () => ({})) } } } })),
  ),
  validate('status: valid deprecated conditions', (size) =>
    statusUpdate(
      extensionConfig({
        status: { deprecated: { v1beta1: { conditions: items(size, () => deprecatedCondition()) } } },
      }),
    ),
  ),
  validate('status: a huge message', (size) =>
    statusUpdate(extensionConfig({ status: { conditions: [condition({ message: fill(size, 'm') })] } })),
  ),
  ...['2026-', '1', 'T', '+', ':', ' '].map((piece) =>
    validate(`status: a time of ${JSON.stringify(piece)}`, (size) =>
      statusUpdate(extensionConfig({ status: { conditions: [condition({ lastTransitionTime: fill(size, piece) })] } })),
    ),
  ),
  validate('status: a time with a long fraction', (size) =>
    statusUpdate(
      extensionConfig({
        status: { conditions: [condition({ lastTransitionTime: `2026-01-01T00:00:00.${fill(size, '1')}!` })] },
      }),
    ),
  ),
];

function condition(parts: Part = {}): Part {
  return {
    type: 'Discovered',
    status: 'True',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'Discovered',
    message: '',
    ...parts,
  };
}

function deprecatedCondition(): Part {
  return { type: 'Discovered', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

const settingShapes: Shape[] = [
  validate('settings: many keys', (size) => create(withSettings(entries(size, (index) => [`k${index}`, 'v'])))),
  validate('settings: many credentials', (size) =>
    create(withSettings(entries(size, (index) => [`k${index}-token`, 'v']))),
  ),
  validate('settings: many credentials, old and new', (size) => {
    const object = withSettings(entries(size / 2, (index) => [`k${index}-token`, 'v']));
    return update(object, object);
  }),
  validate('settings: many credentials, followed by a denial', (size) =>
    create({
      ...withSettings(entries(size, (index) => [`k${index}-token`, 'v'])),
      status: { handlers: [handler({ name: 'wrong' })] },
    }),
  ),
  validate('settings: numbers', (size) => create(withSettings(entries(size, (index) => [`k${index}`, 1])))),
  validate('settings: null', (size) => create(withSettings(entries(size, (index) => [`k${index}`, null])))),
  ...['aA', 'a1B', 'key', 'api', 'secret-', 'Token', 'private.', '-'].map((piece) =>
    validate(`settings: a key of ${JSON.stringify(piece)}`, (size) =>
      create(withSettings({ [fill(size, piece)]: 'v', [`${fill(1000, piece)}!`]: 'v' })),
    ),
  ),
  ...[
    'eyJ',
    'eyJa.eyJ',
    'AKIA',
    'AKIAAAAAAAAAAAAAAAAA',
    'ghp_',
    'ghp_a',
    '-----BEGIN ',
    '-----BEGIN PRIVATE ',
    '-----BEGIN A ',
    'a://',
    'a:',
    'a:/',
    'http://a:a',
    'a-b+c.',
    'a',
    ' ',
  ].map((piece) =>
    validate(`settings: a value of ${JSON.stringify(piece)}`, (size) => create(withSettings({ x: fill(size, piece) }))),
  ),
];

const deep = (size: number, open: string, close: string): string => {
  const depth = Math.floor(size / (open.length + close.length));
  return `${open.repeat(depth)}0${close.repeat(depth)}`;
};
/** Many values nested to the limit, or nearly. */
const thickets = (size: number, open: string, close: string): string =>
  `[${items(size, () => deep(230 * (open.length + close.length), open, close)).join(',')}]`;

const documentShapes: Shape[] = [
  ...(['validate', 'mutate', 'convert'] as const).flatMap((webhook) => [
    shape(webhook, 'JSON: arrays nested without end', (size) => Buffer.from(deep(size, '[', ']'))),
    shape(webhook, 'JSON: objects nested without end', (size) => Buffer.from(deep(size, '{"a":', '}'))),
    shape(webhook, 'JSON: opened and never closed', (size) => Buffer.from(fill(size, '['))),
    shape(webhook, 'JSON: zeros', (size) => Buffer.from(JSON.stringify(items(size, () => 0)))),
    shape(webhook, 'JSON: empty objects', (size) => Buffer.from(JSON.stringify(items(size, () => ({}))))),
    shape(webhook, 'JSON: many keys', (size) =>
      Buffer.from(JSON.stringify(entries(size, (index) => [`${index}k`, 0]))),
    ),
    shape(webhook, 'JSON: a number with many digits', (size) => Buffer.from(fill(size, '1'))),
    shape(webhook, 'JSON: a number with many decimal places', (size) => Buffer.from(`0.${fill(size, '1')}`)),
    shape(webhook, 'JSON: spaces', (size) => Buffer.from(fill(size, ' '))),
    shape(webhook, 'JSON: bytes that are not UTF-8', (size) => Buffer.alloc(size, 0xff)),
  ]),
  validate('JSON: deeply nested objects, many times', (size) =>
    withText(create(extensionConfig({ extra: '@@' })), thickets(size, '{"a":', '}')),
  ),
  validate('JSON: deeply nested arrays in a wrong place', (size) =>
    withText(create(withSelector({ matchExpressions: '@@' } as unknown as Part)), thickets(size, '[', ']')),
  ),
  validate('JSON: the same key many times', (size) =>
    withText(create(withSettings('@@' as unknown as Part)), `{${fill(size, '"k":"v",')}"k":"v"}`),
  ),
  validate('JSON: __proto__ many times', (size) =>
    withText(create(withSettings('@@' as unknown as Part)), `{${fill(size, '"__proto__":{"a":1},')}"__proto__":{}}`),
  ),
  validate('JSON: nested __proto__', (size) =>
    withText(create(extensionConfig({ spec: '@@' })), thickets(size, '{"__proto__":', '}')),
  ),
  validate('JSON: escaped letters', (size) =>
    withText(create(withClientConfig({ url: '@@' })), `"https://${fill(size, '\\u0061')}"`),
  ),
  validate('JSON: lone surrogates', (size) =>
    withText(create(withClientConfig({ url: '@@' })), `"https://${fill(size, '\\ud800')}"`),
  ),
  validate('JSON: a port of many digits', (size) =>
    withText(create(withClientConfig({ service: { ...service, port: '@@' } })), fill(size, '9')),
  ),
  validate('JSON: many ports of many digits', (size) =>
    withText(create(withSettings('@@' as unknown as Part)), `{"a":[${fill(size, '1e308,')}0]}`),
  ),
  validate('JSON: many unknown fields', (size) => create(extensionConfig(entries(size, (index) => [`k${index}`, 0])))),
  ...Object.entries({
    '16 digits': (index: number) => `${2 ** 53 - 1 - index}`,
    '10 digits with the same low bits': (index: number) => `${(index * 2 ** 24) % (2 ** 32 - 1)}`,
    '15 digits with the same low bits': (index: number) => `${100_000_000_000_000 + index * 2 ** 24}`,
    'falling, with gaps': (index: number) => `${4_000_000_000 - index * 1025}`,
    negative: (index: number) => `-${index}`,
    'with an exponent': (index: number) => `${index}e1`,
  }).map(([label, keyOf]) =>
    validate(`JSON: numeric keys, ${label}`, (size) =>
      withText(
        create(withSettings('@@' as unknown as Part)),
        `{${Array.from({ length: Math.floor(size / 24) }, (_, index) => `"${keyOf(index)}":"v"`).join()}}`,
      ),
    ),
  ),
  validate('JSON: strings of escapes', (size) =>
    withText(create(withSettings('@@' as unknown as Part)), `{"a":[${fill(size, '"\\u0000\\\\",')}0]}`),
  ),
  validate('JSON: numbers with many digits', (size) =>
    withText(
      create(withSettings('@@' as unknown as Part)),
      `{"a":[${`${'1'.repeat(400)}.${'5'.repeat(400)}e-400,`.repeat(Math.floor(size / 806))}0]}`,
    ),
  ),
  validate('JSON: the same nested key many times', (size) =>
    withText(
      create(withSettings('@@' as unknown as Part)),
      `{${`"k":${deep(1000, '{"a":', '}')},`.repeat(Math.floor(size / 1007))}"k":"v"}`,
    ),
  ),
  validate('JSON: numeric keys', (size) => create(withSettings(entries(size, (index) => [`${index * 7}`, 'v'])))),
];

const metadataShapes: Shape[] = [
  validate('metadata: many annotations', (size) =>
    create(withMetadata({ annotations: entries(size, (index) => [`a${index}`, '']) })),
  ),
  validate('metadata: many labels', (size) =>
    create(withMetadata({ labels: entries(size, (index) => [`a${index}`, '']) })),
  ),
  validate('metadata: numbers instead of annotations', (size) =>
    create(withMetadata({ annotations: entries(size, (index) => [`a${index}`, 0]) })),
  ),
  validate('metadata: one huge annotation', (size) => create(withMetadata({ annotations: { a: fill(size, 'x') } }))),
  validate('metadata: a huge key of an invalid annotation', (size) =>
    create(withMetadata({ annotations: { [fill(size, 'x')]: 0 } })),
  ),
  validate('metadata: the inject annotation of slashes', (size) =>
    create(withMetadata({ annotations: { [injectAnnotation]: fill(size, '/') } })),
  ),
  validate('metadata: ownerReferences', (size) => {
    const ownerReferences = items(size / 2, (index) => ({ apiVersion: 'v1', kind: 'X', name: `n${index}`, uid: 'u' }));
    return update(withMetadata({ ownerReferences }), withMetadata({ ownerReferences }));
  }),
  validate('metadata: finalizers', (size) => create(withMetadata({ finalizers: values(size) }))),
  validate('metadata: managedFields', (size) =>
    create(
      withMetadata({
        managedFields: items(size, (index) => ({
          manager: `m${index}`,
          operation: 'Update',
          fieldsV1: { 'f:spec': { 'f:settings': { [`f:k${index}`]: {} } } },
        })),
      }),
    ),
  ),
  validate('review: groups of the user', (size) =>
    admissionReview(request(extensionConfig(), { userInfo: { username: 'u', groups: values(size) } })),
  ),
  validate('review: a huge user name', (size) =>
    admissionReview(request(extensionConfig(), { userInfo: { username: fill(size, 'u') } })),
  ),
  validate('review: a huge uid', (size) => admissionReview(request(extensionConfig(), { uid: fill(size, 'u') }))),
  validate('review: a huge operation', (size) =>
    admissionReview(request(extensionConfig(), { operation: fill(size, 'CREATE') })),
  ),
  validate('review: a huge kind', (size) =>
    admissionReview(request(extensionConfig(), { kind: { ...kind, kind: fill(size, 'k') } })),
  ),
  validate('review: a huge kind of the object', (size) => create(extensionConfig({ kind: fill(size, 'k') }))),
  validate('review: a huge subresource', (size) =>
    admissionReview(request(extensionConfig(), { subResource: fill(size, 's') })),
  ),
];

const updateShapes: Shape[] = [
  validate('update: an invalid selector, old and new', (size) => {
    const object = withSelector({ matchExpressions: items(size / 2, () => ({ key: '-', operator: 'in' })) });
    return update(object, object);
  }),
  validate('update: contradictions, old and new', (size) => {
    const object = withSelector({
      matchExpressions: [requirement('In', values(size / 4)), requirement('NotIn', values(size / 4))],
    });
    return update(object, object);
  }),
  validate('update: huge url, old and new', (size) => {
    const object = withClientConfig({ url: `https://h/?${fill(size / 2, 'q')}` });
    return update(object, object);
  }),
  validate('update: everything invalid, old and new', (size) => {
    const object = {
      ...withSettings(entries(size / 8, (index) => [`token${index}`, index])),
      status: { handlers: items(size / 4, () => ({ name: 1 })), conditions: 'x' },
      extra: items(size / 8, () => [[]]),
    };
    return update(object, object);
  }),
];

updateShapes.push(
  validate('update: metadata, settings, selector and status differ everywhere', (size) => {
    const object = (prefix: string) => ({
      ...extensionConfig({
        metadata: { name: 'my-extension', annotations: entries(size / 16, (index) => [`${prefix}${index}`, prefix]) },
        spec: {
          clientConfig: { url: `https://${prefix}.example.com`, caBundle: exampleCaBundle },
          namespaceSelector: {
            matchExpressions: items(size / 8, (index) => requirement('In', [`${prefix}${index}`])),
            matchLabels: entries(size / 16, (index) => [`${prefix}${index}`, prefix]),
          },
          settings: entries(size / 16, (index) => [`${prefix}-token${index}`, prefix]),
        },
        status: { handlers: items(size / 8, (index) => handler({ name: `${prefix}${index}` })) },
      }),
    });
    return update(object('a'), object('b'));
  }),
  validate('update: clientConfig of unknown fields, old and new', (size) => {
    const object = (last: number) =>
      withClientConfig({ service, ...entries(size / 2, (index) => [`k${index}`, [index]]), last });
    return update(object(0), object(1));
  }),
  validate('update: handlers that become invalid', (size) =>
    statusUpdate(
      withHandlers(items(size / 2, (index) => handler({ name: `h${index}`, timeoutSeconds: 99 }))),
      withHandlers(items(size / 2, (index) => handler({ name: `h${index}.my-extension`, timeoutSeconds: 1 }))),
    ),
  ),
  mutate('update: settings, old and new', (size) =>
    update(
      withSettings(entries(size / 2, (index) => [`k${index}`, 'v'])),
      withSettings(entries(size / 2, (index) => [`l${index}`, 'v'])),
    ),
  ),
  mutate('a service without a port among null fields', (size) =>
    create(
      extensionConfig({
        spec: { clientConfig: { service: entries(size, (index) => [`k${index}`, null]) } },
      }),
    ),
  ),
);

const keptTimeout = (name: string) => ({ path: ['status', 'handlers', { name }, 'timeoutSeconds'], value: 0 });
const withConversionData = (data: unknown, handlers: unknown[], version = 'v1beta2') =>
  extensionConfig(
    {
      metadata: { name: 'my-extension', annotations: { [conversionDataAnnotation]: JSON.stringify(data) } },
      status: { handlers },
    },
    version,
  );
const v1alpha1 = `${kind.group}/v1alpha1`;
/** The largest value of an annotation, with room for its quotes. */
const conversionDataSize = (size: number, share: number) => Math.min(size * share, 180_000);

const conversionShapes: Shape[] = [
  convert('many handlers with the same name, conversion data for that name', (size) =>
    conversion(
      [
        withConversionData(
          { [v1alpha1]: items(conversionDataSize(size, 0.25), () => keptTimeout('a')) },
          items(size / 2, () => ({ name: 'a', requestHook: blocking })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('many handlers, conversion data for each', (size) =>
    conversion(
      [
        withConversionData(
          { [v1alpha1]: items(conversionDataSize(size, 0.25), (index) => keptTimeout(`h${index}`)) },
          items(size / 2, (index) => ({ name: `h${index}`, requestHook: blocking })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('conversion data whose keys all differ', (size) =>
    conversion(
      [
        withConversionData(
          {
            [v1alpha1]: items(conversionDataSize(size, 0.25), (index) => ({
              path: ['status', 'handlers', { [`k${index}`]: 1 }, 'timeoutSeconds'],
              value: 0,
            })),
          },
          items(size / 2, (index) => ({ name: `h${index}`, requestHook: blocking })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('conversion data with huge keys', (size) =>
    conversion(
      [
        withConversionData(
          {
            [v1alpha1]: Array.from({ length: 100 }, () => keptTimeout(fill(conversionDataSize(size, 0.25) / 120, 'n'))),
          },
          items(size / 2, () => ({ name: 'a', requestHook: blocking })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('conversion data with long paths', (size) =>
    conversion(
      [
        withConversionData(
          { [v1alpha1]: [{ path: items(conversionDataSize(size, 0.5), () => 'a'), value: 0 }] },
          items(size / 2, () => ({ name: 'a' })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('conversion data for huge lists of versions', (size) =>
    conversion(
      [
        withConversionData(
          entries(conversionDataSize(size, 0.5), (index) => [`v${index}`, []]),
          [],
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('a conversion data annotation over its limit', (size) =>
    conversion([withConversionData(fill(size, 'x'), [])], 'v1alpha1'),
  ),
  convert('many objects with conversion data up to the limit', (size) =>
    conversion(
      Array.from({ length: Math.max(1, Math.floor(size / 220_000)) }, () =>
        withConversionData({ [v1alpha1]: items(170_000, () => keptTimeout('a')) }, [{ name: 'a' }]),
      ),
      'v1alpha1',
    ),
  ),
  convert('handlers whose timeouts become conversion data', (size) =>
    conversion(
      [
        extensionConfig(
          { status: { handlers: items(size, (index) => ({ name: `h${index}`, timeoutSeconds: 0 })) } },
          'v1alpha1',
        ),
      ],
      'v1beta2',
    ),
  ),
  convert('handlers with the same huge name whose timeouts become conversion data', (size) =>
    conversion(
      [
        extensionConfig(
          {
            status: {
              handlers: Array.from({ length: 500 }, () => ({ name: fill(size / 500, 'n'), timeoutSeconds: 0 })),
            },
          },
          'v1alpha1',
        ),
      ],
      'v1beta2',
    ),
  ),
  convert('many annotations beside conversion data', (size) =>
    conversion(
      [
        extensionConfig({
          metadata: {
            name: 'my-extension',
            annotations: {
              ...entries(size, (index) => [`a${index}`, '']),
              [conversionDataAnnotation]: JSON.stringify({ [v1alpha1]: [keptTimeout('a')] }),
            },
          },
          status: { handlers: [{ name: 'a' }] },
        }),
      ],
      'v1alpha1',
    ),
  ),
  convert('unknown fields beside what is restored', (size) =>
    conversion(
      [
        {
          ...withConversionData({ [v1alpha1]: [keptTimeout('a')] }, [
            { name: 'a', ...entries(size / 3, (index) => [`h${index}`, 0]) },
          ]),
          ...entries(size / 3, (index) => [`k${index}`, 0]),
        },
        extensionConfig({ status: entries(size / 3, (index) => [`s${index}`, 0]) }),
      ],
      'v1alpha1',
    ),
  ),
  convert('a handler with many unknown fields and a timeout that becomes conversion data', (size) =>
    conversion(
      [
        extensionConfig(
          { status: { handlers: [{ timeoutSeconds: 0, ...entries(size, (index) => [`h${index}`, 0]) }] } },
          'v1alpha1',
        ),
      ],
      'v1beta2',
    ),
  ),
  convert('conversion data that restores a huge value', (size) =>
    conversion(
      [
        withConversionData(
          {
            [v1alpha1]: Array.from({ length: 100 }, () => ({
              path: ['status', 'handlers', { name: 'a' }, 'timeoutSeconds'],
              value: entries(conversionDataSize(size, 0.5) / 100, (index) => [`k${index}`, 0]),
            })),
          },
          items(size / 2, () => ({ name: 'a' })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  ...['[', '{"a":', '{"__proto__":', '[[', '"\\ud800",', '1e999,', '{"path":[', '{"path":[{"a":'].map((piece) =>
    convert(`many objects with conversion data of ${JSON.stringify(piece)}`, (size) =>
      conversion(
        Array.from({ length: Math.max(1, Math.floor(size / 450_000)) }, () =>
          extensionConfig({
            metadata: {
              annotations: {
                [conversionDataAnnotation]: `{"${v1alpha1}":[${fill(conversionDataSize(size, 0.5), piece)}`,
              },
            },
          }),
        ),
        'v1alpha1',
      ),
    ),
  ),
  convert('conversion data whose keys are nested values', (size) =>
    conversion(
      [
        withConversionData(
          {
            [v1alpha1]: items(conversionDataSize(size, 0.25), (index) => ({
              path: ['status', 'handlers', { name: [[[{ a: index }]]], b: [[0]], a: {} }, 'timeoutSeconds'],
              value: 0,
            })),
          },
          items(size / 2, (index) => ({ name: [[[{ a: index }]]], requestHook: blocking })),
        ),
      ],
      'v1alpha1',
    ),
  ),
  convert('a handler with a huge list for a name', (size) =>
    conversion(
      [
        withConversionData({ [v1alpha1]: items(conversionDataSize(size, 0.25), () => keptTimeout('a')) }, [
          { name: items(size / 2, () => [0]) },
        ]),
      ],
      'v1alpha1',
    ),
  ),
  convert('both versions of conditions', (size) =>
    conversion(
      [
        extensionConfig(
          {
            status: {
              conditions: items(size / 2, () => ({})),
              v1beta2: { conditions: items(size / 2, () => ({})) },
              deprecated: { v1beta1: { conditions: [] } },
            },
          },
          'v1alpha1',
        ),
      ],
      'v1beta2',
    ),
  ),
  convert('handlers {}', (size) => conversion([withHandlers(items(size, () => ({})))], 'v1alpha1')),
  convert('handlers 0', (size) => conversion([withHandlers(items(size, () => 0))], 'v1alpha1')),
  convert('conditions', (size) =>
    conversion([extensionConfig({ status: { conditions: items(size, () => condition()) } }, 'v1alpha1')], 'v1beta2'),
  ),
  convert('many small objects', (size) =>
    conversion(
      items(size, (index) => extensionConfig({ metadata: { name: `o${index}` } })),
      'v1alpha1',
    ),
  ),
  convert('empty objects', (size) =>
    conversion(
      items(size, () => ({})),
      'v1alpha1',
    ),
  ),
  convert('values that are not objects', (size) =>
    conversion(
      items(size, () => 0),
      'v1alpha1',
    ),
  ),
  convert('a huge version', (size) => conversion([extensionConfig()], fill(size, 'v'))),
  convert('a huge kind', (size) => conversion([extensionConfig({ kind: fill(size, 'k') })], 'v1alpha1')),
  convert('a huge name of an object that fails', (size) =>
    conversion([extensionConfig({ metadata: { name: fill(size, 'n') }, kind: 'x' })], 'v1alpha1'),
  ),
  convert('many unknown fields', (size) =>
    conversion([extensionConfig(entries(size, (index) => [`k${index}`, 0]))], 'v1alpha1'),
  ),
  convert('unknown fields in the status', (size) =>
    conversion([extensionConfig({ status: entries(size, (index) => [`k${index}`, {}]) }, 'v1alpha1')], 'v1beta2'),
  ),
  convert('deeply nested objects, many times', (size) =>
    withText(conversion([extensionConfig({ extra: '@@' })], 'v1alpha1'), thickets(size, '{"a":', '}')),
  ),
];

/** Every hostile shape that is known: what once stopped the server, and what might. */
export const shapes: readonly Shape[] = [
  ...selectorShapes,
  ...bundleShapes,
  ...urlShapes,
  ...nameShapes,
  ...handlerShapes,
  ...conditionShapes,
  ...settingShapes,
  ...documentShapes,
  ...metadataShapes,
  ...updateShapes,
  ...conversionShapes,
];
