import { type HookDefinition, hooks } from '../../runtimehooks/index.ts';

/** Names of the hooks that a project can have handlers for. */
export const hookNames: readonly string[] = Object.keys(hooks).filter((name) => name !== 'Discovery');

/** The name of a hook's handler, and of its file: `before-cluster-create`. */
export function handlerNameOf(hook: string): string {
  return hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const variableOf = (hook: string) => `${hook.charAt(0).toLowerCase()}${hook.slice(1)}`;

/** A handler's imports besides `handler`, with their modules, and the lines of its function body. */
interface Body {
  /** What it needs of the SDK's first entry, besides `handler`. */
  sdk?: string;
  imports?: readonly string[];
  parameters: string;
  lines: readonly string[];
}

const blockingBody: Body = {
  parameters: '({ cluster }, { answer, log })',
  lines: [
    "log.info({ uid: cluster.metadata?.uid }, 'called');",
    "// If there is something to wait for: return answer.retry(30, 'what it waits for');",
    'return answer.done();',
  ],
};

const bodies: Readonly<Record<string, Body>> = {
  AfterControlPlaneInitialized: {
    parameters: '({ cluster }, { answer, log })',
    lines: ["log.info({ uid: cluster.metadata?.uid }, 'called');", 'return answer.done();'],
  },
  GeneratePatches: {
    imports: [
      "import { setField, walkTemplates } from 'cluster-api-extension/topology';",
      "import { variables } from '../variables.ts';",
    ],
    parameters: '(request, { answer, log })',
    lines: [
      'const items = walkTemplates(',
      '  request,',
      '  [',
      '    {',
      "      // match: { kind: 'DockerMachineTemplate', holder: { kind: 'MachineDeployment' } },",
      '      mutate(template, { values: { tier } }) {',
      '        // Infrastructure, bootstrap and control plane objects get the labels below spec.template.',
      '        if (tier !== undefined) {',
      '          setField(template, \'spec.template.metadata.labels["example.com/tier"]\', tier);',
      '        }',
      '      },',
      '    },',
      '  ],',
      '  { variables, log },',
      ');',
      'return answer.done({ items });',
    ],
  },
  ValidateTopology: {
    parameters: '({ items }, { answer })',
    lines: [
      '// If something is wrong, tell users: return answer.fail(…);',
      "return items.length > 0 ? answer.done() : answer.fail('the Cluster has no templates');",
    ],
  },
  DiscoverVariables: {
    imports: ["import { variables } from '../variables.ts';"],
    parameters: '(_request, { answer })',
    lines: ['return answer.done({ variables: variables.definitions });'],
  },
  GenerateUpgradePlan: {
    parameters: '(request, { answer })',
    sdk: 'planUpgrade',
    lines: [
      "// The versions that you have tested, such as ['v1.33.4', 'v1.34.1'], are the second argument of planUpgrade.",
      'return answer.done(planUpgrade(request));',
    ],
  },
  CanUpdateMachine: {
    imports: ["import { changes } from '../in-place.ts';"],
    parameters: '(request, { answer })',
    lines: ['return answer.done(changes.machinePatches(request));'],
  },
  CanUpdateMachineSet: {
    imports: ["import { changes } from '../in-place.ts';"],
    parameters: '(request, { answer })',
    lines: ['return answer.done(changes.machineSetPatches(request));'],
  },
  UpdateMachine: {
    sdk: 'answerUpdate',
    imports: ["import { updater } from '../in-place.ts';"],
    parameters: '(request, context)',
    lines: ['return answerUpdate(request, context, updater);'],
  },
};

/** The file with a hook's handler. */
export function handlerFile(hook: string): string {
  const { summary } = hooks[hook as keyof typeof hooks] as HookDefinition;
  const { sdk, imports = [], parameters, lines } = bodies[hook] ?? blockingBody;
  return [
    `import { ${['handler', ...(sdk === undefined ? [] : [sdk])].toSorted().join(', ')} } from 'cluster-api-extension';`,
    ...imports,
    '',
    `/** ${summary} */`,
    `export const ${variableOf(hook)} = handler('${hook}', {`,
    `  name: '${handlerNameOf(hook)}',`,
    `  handle: async ${parameters} => {`,
    ...lines.map((line) => `    ${line}`),
    '  },',
    '});',
    '',
  ].join('\n');
}

/** The lines that import handlers into the file that lists them, and the names of the handlers there. */
export function importsOf(chosen: readonly string[]): [lines: string[], names: string[]] {
  return [
    chosen.map((hook) => `import { ${variableOf(hook)} } from './${handlerNameOf(hook)}.ts';`),
    chosen.map(variableOf),
  ];
}

/** The file that lists the handlers. */
export function handlersFile(chosen: readonly string[]): string {
  const [imports, names] = importsOf(chosen);
  return [
    ...imports,
    '',
    '/** The handlers, as Discovery lists them. */',
    `export const handlers = [${names.join(', ')}];`,
    '',
  ].join('\n');
}

/** The file with variables, for the hooks that need it. */
export const variablesFile = `import { defineVariables } from 'cluster-api-extension/topology';

/** The variables of the extension: DiscoverVariables tells ClusterClasses of them. */
export const variables = defineVariables({
  tier: { schema: { type: 'string', description: 'Value of the label example.com/tier of objects created from templates.', maxLength: 63 } },
});
`;

/** The file with what in-place updates need, for the hooks that need it. */
export const inPlaceFile = (
  hasTypes: boolean,
) => `import { defineInPlaceChanges, HandlerFailure, type MachineUpdater } from 'cluster-api-extension';
${hasTypes ? "import { knownFields } from './template-types.ts';\n" : ''}
/** The fields that the extension can change. A machine with any other change is replaced. */
export const changes = defineInPlaceChanges({
  // machine: ['spec.version'],
  // infrastructureMachine: { DockerMachine: ['spec.bootstrapTimeout'] },
  // bootstrapConfig: { KubeadmConfig: ['spec.files'] },
}${hasTypes ? ', knownFields' : ''});

/** How the extension updates machines. Put your way to reach nodes here; then remove update-machine from \`todo\` in test/handlers.test.ts. */
export const updater: MachineUpdater = {
  async look() {
    throw new HandlerFailure('this extension cannot update machines yet');
  },
  async begin() {},
  async kubeletVersion() {
    return undefined;
  },
};
`;

/** The lines of the README about the handlers. */
export function handlersTable(chosen: readonly string[]): string {
  return [
    '| handler | hook |',
    '| --- | --- |',
    ...chosen.map((hook) => {
      const { summary } = hooks[hook as keyof typeof hooks] as HookDefinition;
      return `| \`${handlerNameOf(hook)}\` | ${hook}: ${summary} |`;
    }),
  ].join('\n');
}
