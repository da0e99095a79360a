import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../base/index.ts';
import { type HookDefinition, hooks } from '../../runtimehooks/index.ts';

/** Names of the hooks that a project can have handlers for. */
export const hookNames: readonly string[] = Object.keys(hooks).filter((name) => name !== 'Discovery');

/** The name of a hook's handler, and of its file: `before-cluster-create`. */
export function handlerNameOf(hook: string): string {
  return hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const variableOf = (hook: string) => `${hook.charAt(0).toLowerCase()}${hook.slice(1)}`;
const summaryOf = (hook: string) => (hooks[hook as keyof typeof hooks] as HookDefinition).summary;

export const typesFile = 'src/template-types.ts';

/** Files that a project has only if it needs them. */
const optional = fileURLToPath(new URL('templates/optional/', packageRoot));
const pathOf = (hook: string) => `src/handlers/${handlerNameOf(hook)}.ts`;
/** The hook whose file is the template for all hooks that have none of their own. */
const example = 'BeforeClusterCreate';

function handlerFile(hook: string): string {
  const path = [hook, example].map((one) => `${optional}${pathOf(one)}`).find(existsSync) ?? '';
  return [variableOf, handlerNameOf, (name: string) => name]
    .reduce((text, form) => text.replaceAll(form(example), form(hook)), readFileSync(path, 'utf8'))
    .replace('{{summary}}', () => summaryOf(hook));
}

/** The files of handlers, by path, with those that they need. */
export function handlerFiles(chosen: readonly string[], hasTypes: boolean): Map<string, string> {
  const files = new Map(chosen.map((hook) => [pathOf(hook), handlerFile(hook)]));
  if (chosen.includes('GeneratePatches') || chosen.includes('DiscoverVariables')) {
    files.set('src/variables.ts', readFileSync(`${optional}src/variables.ts`, 'utf8'));
  }
  if (chosen.includes('GeneratePatches')) {
    for (const path of ['test/patches.test.ts', 'test/patches.golden.json']) {
      files.set(path, readFileSync(`${optional}${path}`, 'utf8'));
    }
  }
  if (chosen.some((hook) => files.get(pathOf(hook))?.includes('../jobs.ts'))) {
    files.set('src/jobs.ts', readFileSync(`${optional}src/jobs.ts`, 'utf8'));
  }
  if (chosen.some((hook) => hook.includes('UpdateMachine'))) {
    const text = readFileSync(`${optional}src/in-place.ts`, 'utf8');
    files.set('src/in-place.ts', hasTypes ? text : text.replaceAll(/^.*\bknownFields\b.*\n/gm, ''));
  }
  return files;
}

/** The lines that import handlers into the file that lists them, and the names of the handlers there. */
export function importsOf(chosen: readonly string[]): [lines: string, names: string[]] {
  const lines = chosen.map((hook) => `import { ${variableOf(hook)} } from './${handlerNameOf(hook)}.ts';\n`);
  return [lines.join(''), chosen.map(variableOf)];
}

export function handlersFile(chosen: readonly string[]): string {
  const [imports, names] = importsOf(chosen);
  return `${imports}\n/** The handlers, as Discovery lists them. */\nexport const handlers = [${names.join(', ')}];\n`;
}

export function handlersTable(chosen: readonly string[]): string {
  const rows = chosen.map((hook) => `| \`${handlerNameOf(hook)}\` | ${hook}: ${summaryOf(hook)} |`);
  return ['| handler | hook |', '| --- | --- |', ...rows].join('\n');
}
