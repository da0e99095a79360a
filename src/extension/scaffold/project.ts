import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FailureError, folderProblem, makeFolder, newFolder, packageRoot, pathBelow } from '../../base/index.ts';
import { type HookDefinition, hooks } from '../../runtimehooks/index.ts';

/** The hooks that a project can have handlers for. */
export const hookNames: readonly string[] = Object.keys(hooks).filter((name) => name !== 'Discovery');

/** The name of a hook's handler, and of its file: `before-cluster-create`. */
const handlerNameOf = (hook: string) => hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
const variableOf = (hook: string) => `${hook.charAt(0).toLowerCase()}${hook.slice(1)}`;
const summaryOf = (hook: string) => (hooks[hook as keyof typeof hooks] as HookDefinition).summary;

const typesFile = 'src/template-types.ts';

/** Placeholders without a value stay. */
const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replaceAll(/\{\{([a-z]+)\}\}/g, (mark, key: string) => values[key] ?? mark);

function templatesIn(folder: string, values: Readonly<Record<string, string>>): Map<string, string> {
  const root = fileURLToPath(new URL(`templates/${folder}/`, packageRoot));
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file.slice(root.length).replaceAll('\\', '/'), filled(readFileSync(file, 'utf8'), values)];
    }),
  );
}

const pathOf = (hook: string) => `src/handlers/${handlerNameOf(hook)}.ts`;
/** The hook whose file is the template for all hooks that have none of their own. */
const example = 'BeforeClusterCreate';

/** These hooks and those that they need: patches get only the variables that their own extension defines. */
const withNeeded = (chosen: readonly string[]): string[] => [
  ...new Set([...chosen, ...(chosen.includes('GeneratePatches') ? ['DiscoverVariables'] : [])]),
];

function handlerFiles(name: string, chosen: readonly string[], hasTypes: boolean): Map<string, string> {
  const optional = templatesIn('optional', { name });
  const files = new Map(
    chosen.map((hook) => {
      const text = [variableOf, handlerNameOf, (one: string) => one].reduce(
        (result, form) => result.replaceAll(form(example), form(hook)),
        optional.get(pathOf(hook)) ?? optional.get(pathOf(example)) ?? '',
      );
      return [pathOf(hook), filled(text, { summary: summaryOf(hook) })];
    }),
  );
  const isNeeded: Readonly<Record<string, boolean>> = {
    'src/variables.ts': chosen.includes('DiscoverVariables'),
    'src/jobs.ts': [...files.values()].some((text) => text.includes('../jobs.ts')),
    'src/in-place.ts': chosen.some((hook) => hook.includes('UpdateMachine')),
  };
  for (const [path, text] of optional) {
    if (isNeeded[path] ?? (path.startsWith('test/') && chosen.includes('GeneratePatches'))) {
      files.set(path, hasTypes ? text : text.replaceAll(/^.*\bknownFields\b.*\n/gm, ''));
    }
  }
  return files;
}

function importsOf(chosen: readonly string[]): [lines: string, names: string[]] {
  const lines = chosen.map((hook) => `import { ${variableOf(hook)} } from './${handlerNameOf(hook)}.ts';\n`);
  return [lines.join(''), chosen.map(variableOf)];
}

function handlersTable(chosen: readonly string[]): string {
  const rows = chosen.map((hook) => `| \`${handlerNameOf(hook)}\` | ${hook}: ${summaryOf(hook)} |`);
  return ['| handler | hook |', '| --- | --- |', ...rows].join('\n');
}

interface ProjectOptions {
  /** RFC 1035 label: the name of the package, the Service and the ExtensionConfig. */
  name: string;
  hooks: readonly string[];
  certificates: 'cert-manager' | 'bootstrap';
  /** The file with the types of templates, if there are any. */
  templateTypes?: string | undefined;
  /** The packages that npm installs as SDK and program: a version range, or `file:…`. */
  packages: { sdk: string; program: string };
}

/** Names that npm does not pack unchanged, and a folder that Git services look at. */
const packedNames: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  dockerignore: '.dockerignore',
  npmrc: '.npmrc',
  'release-workflow.yaml': '.github/workflows/release.yaml',
};

function projectFiles(options: ProjectOptions): Map<string, string> {
  const { name, templateTypes } = options;
  const hooks = withNeeded(options.hooks);
  const values = {
    name,
    namespace: `${name}-system`,
    image: `registry.example.com/${name}:0.1.0`,
    // To be inserted between quotes in JSON.
    sdk: JSON.stringify(options.packages.sdk).slice(1, -1),
    program: JSON.stringify(options.packages.program).slice(1, -1),
    handlers: handlersTable(hooks),
  };
  const files = new Map<string, string>();
  for (const [template, text] of templatesIn('extension', values)) {
    const certificate = /^manifests\/certificate\.([a-z-]+)\.yaml$/.exec(template)?.[1];
    if (certificate === options.certificates) {
      files.set('manifests/certificate.yaml', text);
    } else if (certificate === undefined) {
      files.set(packedNames[template] ?? template, text);
    }
  }
  for (const [path, text] of handlerFiles(name, hooks, templateTypes !== undefined)) {
    files.set(path, text);
  }
  const [imports, names] = importsOf(hooks);
  const list = `export const handlers = [${names.join(', ')}];`;
  files.set('src/handlers/index.ts', `${imports}\n/** The handlers, as Discovery lists them. */\n${list}\n`);
  if (templateTypes !== undefined) {
    files.set(typesFile, templateTypes);
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes a project into a new or empty folder, and returns the paths of its files. @throws {FailureError} */
export function writeProject(folder: string, options: ProjectOptions): string[] {
  const files = projectFiles(options);
  const write = newFolder(folder);
  files.forEach((text, path) => void write(text, ...path.split('/')));
  return [...files.keys()];
}

const handlersList = /^export const handlers = \[([^\]]*)\];$/m;

/** Adds handlers to a project, and returns the paths of the files; never overwrites. @throws {FailureError} */
export function addHandlers(folder: string, hooks: readonly string[]): string[] {
  const index = 'src/handlers/index.ts';
  const isThere = (path: string) => existsSync(join(folder, path));
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  try {
    const list = isThere(index) ? read(index) : '';
    const [line, names] = handlersList.exec(list) ?? [];
    if (line === undefined || names === undefined) {
      const what = list === '' ? 'is not there' : 'has no line of the form "export const handlers = [a, b];"';
      throw new FailureError(`${join(folder, index)} ${what}: name the folder of a project of new-extension`);
    }
    const present = hooks.find((hook) => isThere(pathOf(hook)));
    if (present !== undefined) {
      throw new FailureError(`${join(folder, pathOf(present))} exists: the project has this handler`);
    }
    const added = withNeeded(hooks).filter((hook) => !isThere(pathOf(hook)));
    const { name } = JSON.parse(read('package.json')) as { name: string };
    const files = [...handlerFiles(name, added, isThere(typesFile))].filter(([path]) => !isThere(path));
    const [imports, variables] = importsOf(added);
    const all = [...names.split(',').map((one) => one.trim()), ...variables].filter((one) => one !== '');
    for (const [path, text] of files) {
      const file = pathBelow(folder, ...path.split('/'));
      makeFolder(dirname(file));
      writeFileSync(file, text, { flag: 'wx' });
    }
    const replaced = list.replace(line, () => `export const handlers = [${all.join(', ')}];`);
    writeFileSync(join(folder, index), `${imports}${replaced}`);
    return [...files.map(([path]) => path), index];
  } catch (error) {
    throw error instanceof FailureError ? error : new FailureError(folderProblem(folder, 'written', error));
  }
}
