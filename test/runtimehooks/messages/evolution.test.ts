import { describe, expect, test } from 'vitest';
import { clusterApiHooks, createHookCatalog, type Lifecycle, parseRelease } from '../../../src/runtimehooks/index.ts';
import {
  compareHookDocuments,
  OpenApiError,
  openApiDocument,
  readHookDocument,
} from '../../../src/runtimehooks/messages/index.ts';
import { expectLinear } from '../../support/work.ts';

interface Schema {
  type?: string;
  enum?: string[];
  required?: string[];
  properties: Record<string, Record<string, unknown>>;
}

interface Document {
  paths: Record<string, { post: { deprecated?: boolean; parameters?: object[] } }>;
  components: { schemas: Record<string, Schema> };
}

const prefix = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.';
const group = 'hooks.runtime.cluster.x-k8s.io';
const pathOf = (hook: string, version = 'v1alpha1') => `/${group}/${version}/${hook}/{name}`;
const ours = JSON.stringify(openApiDocument(clusterApiHooks, { version: 'v1.14', release: parseRelease('1.14')! }));
const read = readHookDocument(ours);
/** Parsed anew: the schemas of our own document share parts, which a change would affect all at once. */
const fresh = (): Document => JSON.parse(ours);
/** Reading takes longest, and most cases start from the unchanged document. */
const readOf = (document: Document) => {
  const text = JSON.stringify(document);
  return text === ours ? read : readHookDocument(text);
};

/** The lines that `change` to Cluster API's document produces. `before` may change both sides first. */
function changes(
  change: (document: Document) => void,
  {
    before = () => {},
    lives = [],
    release = '1.14',
    month = '2026-08',
  }: {
    before?: (document: Document) => void;
    lives?: readonly Lifecycle[];
    release?: string;
    month?: string;
  } = {},
): string[] {
  const [old, current] = [fresh(), fresh()];
  before(old);
  before(current);
  change(current);
  return compareHookDocuments(readOf(old), readOf(current), {
    lifecycles: createHookCatalog(lives),
    release: parseRelease(release),
    month,
  }).map(({ severity, rule, hook, field = '', message }) =>
    [`${severity}${rule ?? ''}`, hook.replace(`${group}/`, ''), field, message].filter((part) => part !== '').join(' '),
  );
}

const schema = (document: Document, name: string) => document.components.schemas[`${prefix}${name}`]!;

/** Serves a hook in another version, with the same messages. */
function addVersion(document: Document, hook: string, version: string): void {
  document.paths[pathOf(hook, version)] = structuredClone(document.paths[pathOf(hook)]!);
}

const made = '; make a new version of the hook';

describe('rule 1', () => {
  test.each<[string, (document: Document) => void, string[]]>([
    ['nothing changed', () => {}, []],
    [
      'a hook was removed',
      (document) => delete document.paths[pathOf('updatemachine')],
      ['break1 v1alpha1/updatemachine was removed, and no version that is at least as stable takes its place'],
    ],
    [
      'a hook lost its parameter',
      (document) => {
        const { [pathOf('updatemachine')]: item, ...paths } = document.paths;
        document.paths = { ...paths, [`/${group}/v1alpha1/updatemachine`]: item! };
      },
      [
        `break1 v1alpha1/updatemachine had the path ${pathOf('updatemachine')} and now has /${group}/v1alpha1/updatemachine${made}`,
      ],
    ],
    [
      'a field was removed',
      (document) => delete schema(document, 'UpgradeStepInfo').properties.version,
      [`break1 v1alpha1/aftercontrolplaneupgrade request.controlPlaneUpgrades[].version was removed${made}`],
    ],
    [
      'a field is of another type',
      (document) => {
        schema(document, 'UpdateMachineResponse').properties.retryAfterSeconds = { type: 'string' };
      },
      [`break1 v1alpha1/updatemachine response.retryAfterSeconds was integer (int32) and is now string${made}`],
    ],
    [
      'a hook can block',
      (document) => {
        const { properties, required } = schema(document, 'GenerateUpgradePlanResponse');
        properties.retryAfterSeconds = { type: 'integer', format: 'int32' };
        required!.push('retryAfterSeconds');
      },
      [
        'note v1alpha1/generateupgradeplan response.retryAfterSeconds is new: the hook can block; without it, it does not',
      ],
    ],
    [
      'a required field of responses is new',
      (document) => {
        const { properties, required } = schema(document, 'UpdateMachineResponse');
        properties.progress = { type: 'string' };
        required!.push('progress');
      },
      [
        'break1 v1alpha1/updatemachine response.progress is new and required, which older extensions do not answer; make it optional, or make a new version of the hook',
      ],
    ],
    [
      'a field of responses became required',
      (document) => schema(document, 'UpdateMachineResponse').required!.push('message'),
      [`break1 v1alpha1/updatemachine response.message became required, which older extensions may leave out${made}`],
    ],
    [
      'a field of requests became optional',
      (document) => {
        schema(document, 'UpdateMachineRequest').required = [];
      },
      [`break1 v1alpha1/updatemachine request.desired became optional, but older extensions rely on it${made}`],
    ],
    [
      'a value of responses was removed',
      (document) => {
        schema(document, 'UpdateMachineResponse').properties.status!.enum = ['Success'];
      },
      [`break1 v1alpha1/updatemachine response.status no longer takes Failure${made}`],
    ],
    [
      'a limit of responses is new',
      (document) => {
        schema(document, 'UpdateMachineResponse').properties.message!.maxLength = 10;
      },
      [`break1 v1alpha1/updatemachine response.message is limited further by maxLength 10${made}`],
    ],
  ])('%s', (_name, change, expected) => {
    expect(changes(change)).toEqual(expected);
  });

  test('allows new hooks and new optional fields', () => {
    expect(
      changes((document) => {
        document.paths[pathOf('beforebackup')] = document.paths[pathOf('updatemachine')]!;
        schema(document, 'UpdateMachineRequest').properties.reason = { type: 'string' };
      }),
    ).toEqual(['note v1alpha1/updatemachine request.reason is new', 'note v1alpha1/beforebackup is new']);
  });

  test('a schema that refers to itself is compared once', () => {
    expect(
      changes((document) => {
        const core = 'sigs.k8s.io.cluster-api.api.core.v1beta2.JSONSchemaProps';
        delete document.components.schemas[core]!.properties.pattern;
      }),
    ).toEqual([
      `break1 v1alpha1/discovervariables response.variables[].schema.openAPIV3Schema.pattern was removed${made}`,
    ]);
  });
});

describe('rule 3', () => {
  const deprecate = (document: Document) => {
    document.paths[pathOf('updatemachine')]!.post.deprecated = true;
  };
  test('a version must not be deprecated without a replacement', () => {
    expect(changes(deprecate)).toEqual([
      'break3 v1alpha1/updatemachine was deprecated, but there is no version that is at least as stable',
    ]);
  });
  test.each([
    ['v1beta1', 'note3 v1alpha1/updatemachine was deprecated; v1beta1 replaces it'],
    ['v1', 'note3 v1alpha1/updatemachine was deprecated; v1 replaces it'],
  ])('it may be deprecated for %s', (version, expected) => {
    expect(changes(deprecate, { before: (document) => addVersion(document, 'updatemachine', version) })).toEqual([
      expected,
    ]);
  });
  test('GA must not be deprecated for beta', () => {
    expect(
      changes(
        (document) => {
          document.paths[pathOf('updatemachine', 'v1')]!.post.deprecated = true;
        },
        {
          before: (document) => {
            addVersion(document, 'updatemachine', 'v1');
            addVersion(document, 'updatemachine', 'v2beta1');
          },
        },
      ),
    ).toEqual(['break3 v1/updatemachine was deprecated, but there is no version that is at least as stable']);
  });
});

describe('rule 4', () => {
  const lives = (more: Partial<Lifecycle>): Lifecycle[] => [
    { group, version: 'v1beta1', name: 'UpdateMachine', introduced: { major: 1, minor: 10 }, ...more },
  ];
  const removed = (options: { lives?: Lifecycle[]; release?: string; month?: string }) =>
    changes((document) => delete document.paths[pathOf('updatemachine', 'v1beta1')], {
      before: (document) => {
        addVersion(document, 'updatemachine', 'v1beta1');
        addVersion(document, 'updatemachine', 'v1');
      },
      ...options,
    });
  const deprecated = { deprecated: { release: { major: 1, minor: 12 }, date: '2025-12' } };
  const tooEarly = (release: string, month: string) => [
    `break4 v1beta1/updatemachine was removed in v${release} (${month}); a deprecated beta version stays at least until v1.14 and 2026-06`,
  ];
  test.each<[string, Parameters<typeof removed>[0], string[]]>([
    ['too few releases', { lives: lives(deprecated), release: '1.13', month: '2026-08' }, tooEarly('1.13', '2026-08')],
    ['too few months', { lives: lives(deprecated), release: '1.14', month: '2026-05' }, tooEarly('1.14', '2026-05')],
    [
      'after its time',
      { lives: lives(deprecated), release: '1.14', month: '2026-06' },
      ['note4 v1beta1/updatemachine was removed, after its time; v1 takes its place'],
    ],
    [
      'never deprecated',
      { lives: lives({}) },
      ['break4 v1beta1/updatemachine was removed without having been deprecated'],
    ],
    [
      'without its life',
      {},
      [
        'note1 v1beta1/updatemachine was removed; v1 takes its place. Whether that is too early cannot be said without its life',
      ],
    ],
    [
      'without a release',
      { lives: lives(deprecated), release: '' },
      [
        'note1 v1beta1/updatemachine was removed; v1 takes its place. Whether that is too early cannot be said without the release of the new document',
      ],
    ],
  ])('%s', (_name, options, expected) => {
    expect(removed(options)).toEqual(expected);
  });
});

describe('a text that is not a document of hooks', () => {
  test.each([
    ['', 'is not an OpenAPI document'],
    ['a: [', 'is not valid YAML'],
    ['swagger: "2.0"', 'is not an OpenAPI document'],
    ['openapi: 2.0.0\npaths: {}', 'is OpenAPI "2.0.0"; documents of 3.0 and 3.1 can be read'],
    ['openapi: 3.0.0\npaths: { /a: { post: {} } }', 'paths "/a": a hook is a POST to'],
    ...[
      '/a: { $ref: "#/paths/b" }',
      '/a/v1/a: { post: { requestBody: { $ref: "#/a" }, responses: { 200: { $ref: "#/b" } } } }',
    ].map((item) => [`openapi: 3.1.0\npaths: { ${item} }`, 'only schemas may be references']),
    ['openapi: 3.0.0\npaths: *nothing', 'is not valid YAML'],
    ['openapi: 3.0.0\npaths: {}\npaths: {}', 'is not valid YAML: line 3: the key "paths" is duplicated'],
  ])('%j is rejected', (text, message) => {
    expect(() => readHookDocument(text)).toThrow(OpenApiError);
    expect(() => readHookDocument(text)).toThrow(message);
  });

  test.each([
    ['that is missing', { items: { $ref: '#/components/schemas/Gone' } }, 'Gone'],
    [
      'that is missing, as the only part of allOf',
      { properties: { b: { allOf: [{ $ref: '#/components/schemas/Gone' }] } } },
      'Gone',
    ],
    ['of another document', { additionalProperties: { $ref: 'other.yaml#/A' } }, 'other.yaml#/A'],
    ['that is itself', { $ref: '#/components/schemas/A' }, '#/components/schemas/A'],
  ])('a reference to a schema %s is named, and not taken for one of anything', (_, schemaOfA, named) => {
    const document = fresh();
    document.components.schemas.A = schemaOfA as never;
    // A name of a field, and data, are not references.
    document.components.schemas.B = { properties: { $ref: { type: 'string' } }, default: { $ref: 'x' } } as never;
    let problem: unknown;
    try {
      readHookDocument(JSON.stringify(document));
    } catch (error) {
      problem = error;
    }
    expect(problem).toBeInstanceOf(OpenApiError);
    expect((problem as Error).message).toMatch(/^components\.schemas "A": \$ref ".*" does not lead to a schema/);
    expect((problem as Error).message).toContain(`${named}"`);
  });

  test('a reference of a hook to a message that is missing is named', () => {
    const document = fresh();
    delete document.components.schemas[`${prefix}UpdateMachineRequest`];
    expect(() => readHookDocument(JSON.stringify(document))).toThrow(
      `paths "${pathOf('updatemachine')}": $ref "#/components/schemas/${prefix}UpdateMachineRequest" does not lead to`,
    );
  });

  test('nesting of 5,000 levels is rejected', () => {
    const text = `openapi: 3.0.0\npaths: ${'['.repeat(5_000)}`;
    expect(() => readHookDocument(text)).toThrow(new OpenApiError('is not valid YAML: line 2: nests too deeply'));
  });

  test('the time is linear in the size of a document', async () => {
    const document = (size: number, name: string) => {
      const hooks = Array.from({ length: size / 8 }, (_, i) => (i < 10 ? 'same' : name) + i);
      // Of each two fields one is new and one became required.
      const names = Array.from({ length: size }, (_, i) => (i % 2 === 0 ? 'same' : name) + i);
      const fields = Object.fromEntries(names.map((field) => [field, { type: 'string' }]));
      const required = name === 'new' ? names : [];
      const message = { content: { 'application/json': { schema: { $ref: '#/components/schemas/M' } } } };
      const post = { requestBody: message, responses: { 200: message } };
      return readHookDocument(
        JSON.stringify({
          openapi: '3.0.0',
          paths: Object.fromEntries(hooks.map((hook) => [`/a/v1/${hook}`, { post }])),
          components: { schemas: { M: { type: 'object', properties: fields, required } } },
        }),
      );
    };
    await expectLinear(6400, async (size) => {
      const [before, after] = [document(size, 'old'), document(size, 'new')];
      expect(compareHookDocuments(before, after, { month: '2026-08' })).toHaveLength(2.75 * size - 20);
    });
  });
});

describe('what a document of another can contain', () => {
  /** A document with one hook, whose request is the schema S0. */
  const documentOf = (schemas: Record<string, object>) =>
    readHookDocument(
      JSON.stringify({
        openapi: '3.0.0',
        info: { title: 'a', version: '1' },
        paths: {
          [pathOf('a')]: {
            post: {
              operationId: 'a',
              requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } },
              responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } },
            },
          },
        },
        components: { schemas },
      }),
    );
  const facts = { month: '2026-08' };

  // These exceeded the stack.
  test.each([
    ['a chain', (index: number) => index + 1],
    ['a cycle', (index: number) => (index + 1) % 5_000],
  ])('%s of 5,000 references is refused', (_, next) => {
    const links = Array.from({ length: 5_000 }, (_link, index): [string, object] => [
      `S${index}`,
      { type: 'object', properties: { a: { $ref: `#/components/schemas/S${next(index)}` } } },
    ]);
    const document = documentOf({ ...Object.fromEntries(links), S5000: { type: 'string' } });
    expect(() => compareHookDocuments(document, document, facts)).toThrow(OpenApiError);
    expect(() => compareHookDocuments(document, document, facts)).toThrow(
      /request\.a\.a\S* of \S+ nests deeper than 200 levels/,
    );
  });

  test('one schema may have become many, but not all combinations of many large ones', () => {
    const named = <T>(size: number, make: (index: number) => T) =>
      Object.fromEntries(Array.from({ length: size }, (_, index): [string, T] => [`S${index + 1}`, make(index)]));
    /** A schema whose fields refer to large ones. */
    const documentWith = (large: number, size: number, uses: number, next: (index: number) => number) => {
      const fields = named(size, () => ({ $ref: '#/components/schemas/S1' }));
      return documentOf({
        S0: { type: 'object', properties: named(uses, (at) => ({ $ref: `#/components/schemas/S${next(at) + 1}` })) },
        ...named(large, () => ({ type: 'object', properties: fields })),
      });
    };
    const one = documentWith(1, 1, 110, () => 0);
    expect(
      compareHookDocuments(
        one,
        documentWith(110, 1, 110, (index) => index),
        facts,
      ),
    ).toEqual([]);
    const many = documentWith(8, 900, 64, (index) => index % 8);
    const other = documentWith(8, 900, 64, (index) => Math.floor(index / 8));
    expect(() => compareHookDocuments(many, other, facts)).toThrow(
      /request\S* of \S+ is one of more than 100000 fields/,
    );
  });

  test('a very long name is cut in the paths below it', () => {
    const name = 'n'.repeat(10_000);
    const old = documentOf({
      S0: { type: 'object', properties: { [name]: { type: 'object', properties: { a: {} } } } },
    });
    const current = documentOf({ S0: { type: 'object', properties: { [name]: { type: 'object' } } } });
    const [{ field = '' } = {}] = compareHookDocuments(old, current, facts);
    expect(field).toBe(`request.${'n'.repeat(253)}….a`);
  });
});
