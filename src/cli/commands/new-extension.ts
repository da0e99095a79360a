import { existsSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { didYouMean } from '../../base/index.ts';
import { hookNames, writeProject } from '../../extension/scaffold/index.ts';
import { dns1035LabelProblems } from '../../kubernetes/index.ts';
import { defineCommand } from '../framework/command.ts';
import { choiceFlag, type Flag, FlagError, listFlag, textFlag } from '../framework/flags.ts';
import { UsageError } from '../framework/program.ts';
import { shellPath } from '../framework/shell-path.ts';
import { version } from '../framework/version.ts';
import { readTemplateTypes } from './template-types.ts';

const hooksFlag: Flag<readonly string[]> = {
  placeholder: 'HOOK,…',
  summary: 'Runtime Hooks to write handlers for; may be repeated',
  default: ['BeforeClusterUpgrade'],
  defaultText: 'BeforeClusterUpgrade',
  repeatable: true,
  parse(text) {
    const parts = text.split(',').map((part) => part.trim());
    const hooks = parts.filter((part) => part !== '');
    if (hooks.length === 0) {
      throw new FlagError('name at least one hook');
    }
    const unknown = hooks.find((hook) => !hookNames.includes(hook));
    if (unknown !== undefined) {
      throw new FlagError(didYouMean(unknown, hookNames, `the hooks are ${hookNames.join(', ')}`));
    }
    return hooks;
  },
};

/** Longest name, in characters: names of Services and Secrets, which add a suffix, have at most 63. */
const maxNameLength = 40;

function specOf(name: string, folder: string | undefined): string {
  if (folder === undefined) {
    return `^${version}`;
  }
  const file = resolve(folder, `${name}-${version}.tgz`);
  if (!existsSync(file)) {
    throw new UsageError(`--packages: ${file} is missing: run "npm run pack -- DIR" in a checkout, and name its DIR`);
  }
  return `file:${file}`;
}

export const command = defineCommand({
  description: 'Creates a project for a Runtime Extension in TypeScript that is ready to run, test and deploy.',
  args: [['<DIR>', 'folder for the project; must be new or empty']],
  flags: {
    hooks: hooksFlag,
    name: textFlag('NAME', 'name of the extension, its package, Service and ExtensionConfig', {
      defaultText: 'the name of the folder',
    }),
    certificates: choiceFlag(
      'MAKER',
      ['cert-manager', 'bootstrap'],
      'what issues the serving certificate: cert-manager, or a Job that runs certs bootstrap',
    ),
    crds: listFlag('FILE', 'CustomResourceDefinitions of the templates to patch, which get types; may be repeated', {
      defaultText: 'none',
    }),
    packages: textFlag('DIR', 'folder with packages that npm run pack -- DIR wrote in a checkout', {
      defaultText: 'npm installs them from its registry',
    }),
  },
  async run({ flags, io }, folder: string) {
    if (folder === '') {
      throw new UsageError('new-extension: DIR is empty: name the folder of the project');
    }
    const name = flags.name ?? basename(resolve(folder));
    const tooLong = name.length > maxNameLength ? [`must be no more than ${maxNameLength} characters`] : [];
    const [problem] = [...dns1035LabelProblems(name), ...tooLong];
    if (problem !== undefined) {
      throw new UsageError(`the name ${JSON.stringify(name.slice(0, 100))} ${problem}: choose one with --name`);
    }
    const hooks = [...new Set(flags.hooks)];
    const packages = {
      sdk: specOf('cluster-api-extension', flags.packages),
      program: specOf('extensionconfig-webhook', flags.packages),
    };
    const templateTypes = flags.crds.length === 0 ? undefined : await readTemplateTypes(flags.crds, io);
    const { certificates } = flags;
    for (const file of writeProject(folder, { name, hooks, certificates, templateTypes, packages })) {
      io.stdout.write(`${join(folder, file)}\n`);
    }
    const where = relative('.', folder) === '' ? '' : `cd ${shellPath(folder)} && `;
    io.stdout.write(`\nNext, with Node.js 22.18 or newer: ${where}npm install && npm test && npm run dev\n`);
    io.stdout.write(
      flags.packages === undefined
        ? `npm installs cluster-api-extension ^${version} from its registry. To use a checkout, run "npm run pack -- DIR" in it, and add "--packages DIR" here.\n`
        : '"docker build" sees only the project, not the packed packages: publish them to a registry of your own for that, and name their versions in package.json.\n',
    );
  },
});
