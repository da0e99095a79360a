import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type InputOptions, type Plugin, rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import sbom from 'rollup-plugin-sbom';
import { oldestNode } from '../../src/exports/node-version.ts';
import { withDeclarations } from './declarations.ts';
import { filesByUrl } from './files-by-url.ts';
import { licences } from './licences.ts';
import { type Package, packages } from './packages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version: currentVersion, license: licence } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  license: string;
};

/** What a release says that a checkout does not. */
export interface ReleaseFacts {
  version: string;
  /** Fields of package.json: addresses of the project. */
  addresses: Readonly<Record<string, unknown>>;
  /** Files of the checkout that differ in the release, by path. */
  edits: ReadonlyMap<string, string>;
}

/** What a package built from a checkout says. */
const checkout: ReleaseFacts = { version: currentVersion, addresses: {}, edits: new Map() };

/** Modules that do something when they are imported; others are left out where nothing of them is used. */
const withEffects = /\/src\/(main|exports\/node-version|kubernetes\/openapi\/protobuf)\.ts$/;
const isNeeded = (id: string) => !/\/src\/|\/@kubernetes\/client-node\//.test(id) || withEffects.test(id);

/** sbom.cdx.json: the packages in the bundle (CycloneDX). */
function billOfMaterials({ name, description }: Package, version: string): Plugin {
  return sbom({
    // The plugin takes the checkout for the package that is described.
    afterCollect({ metadata: { component } }) {
      if (component !== undefined) {
        const purl = `pkg:npm/${name}@${version}`;
        Object.assign(component, { name, version, description, purl });
        component.bomRef.value = purl;
      }
    },
    outDir: '.',
    outFilename: 'sbom.cdx',
    outFormats: ['json'],
    saveTimestamp: false,
    includeWellKnown: false,
  }) as unknown as Plugin;
}

/** Source maps name the lines that we wrote; those of packages and of generated files would be most of them. */
const withoutMapsOfOthers: Plugin = {
  name: 'without-maps-of-others',
  transform: {
    filter: { id: /\/node_modules\/|\/v\d\w+-errors\.ts$/ },
    handler: (code) => ({ code, map: { version: 3, names: [], sources: [], mappings: '' } }),
  },
};

/** A command that the bundle does not have: it says where to get it. */
const withoutSandbox: Plugin = {
  name: 'without-sandbox',
  resolveId: {
    filter: { id: /\/commands\/sandbox\/sandbox\.ts$/ },
    handler: () => join(root, 'src/cli/commands/no-sandbox.ts'),
  },
};

async function bundle(built: Package, folder: string, version: string, more: readonly Plugin[]): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: { ...built.entries },
    platform: 'node',
    // The order of modules follows from their paths: the same with a node_modules that is elsewhere.
    // json-schema-to-typescript never calls prettier here, whose plugins are 6 MB: this entry point comes without them.
    resolve: { symlinks: false, alias: { prettier: 'prettier/standalone' } },
    transform: { target: `node${oldestNode}` },
    treeshake: { moduleSideEffects: isNeeded },
    plugins: [filesByUrl(), withoutMapsOfOthers, licences(), billOfMaterials(built, version), ...more],
    logLevel: 'silent',
  });
  await build.write({
    dir: folder,
    format: 'es',
    // A stack's lines are found again with --enable-source-maps.
    sourcemap: true,
    // A library is readable, since Node.js prints lines of it when a program does not start, and has its sources.
    sourcemapExcludeSources: built.bin.length > 0,
    minify: built.bin.length > 0,
    // Declarations have the comments of what is exported.
    comments: { jsdoc: false },
    // The same wherever the checkout and the packages are.
    sourcemapPathTransform: (source, map) => relative(root, resolve(dirname(map), source)),
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    assetFileNames: 'assets/[name][extname]',
  });
}

function declarationOptions(built: Package, entries: readonly string[], declarations: string): InputOptions {
  const input = entries.map((entry) => {
    const source = built.entries[entry] as string;
    return [entry, join(declarations, source.replace(/^src/, '').replace(/\.ts$/, '.d.ts'))];
  });
  return {
    cwd: root,
    input: Object.fromEntries(input),
    platform: 'node',
    plugins: [dts({ generator: 'oxc', dtsInput: true, emitDtsOnly: true, tsconfig: false })],
    external: [/^node:/, 'ajv'],
  };
}

/** A declaration file for each entry point, and some for what they share; they import nothing that users do not have. */
async function declare(built: Package, folder: string, declarations: string): Promise<void> {
  const build = await rolldown(declarationOptions(built, Object.values(built.exports), declarations));
  const { output } = await build.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'chunks/[name].d.ts',
  });
  for (const file of output) {
    const [foreign] = (file.type === 'chunk' && /^import .* from "(?!node:|\.).*$/m.exec(file.code)) || [];
    if (foreign !== undefined) {
      throw new Error(`${built.name}: users of ${file.fileName} do not have what it needs: ${foreign}`);
    }
  }
}

function manifestOf({ name, description, keywords, exports, bin }: Package, release: ReleaseFacts): object {
  return {
    name,
    version: release.version,
    description,
    keywords,
    ...release.addresses,
    license: licence,
    type: 'module',
    engines: { node: `>=${oldestNode}` },
    ...(bin.length > 0 && { bin: Object.fromEntries(bin.map((command) => [command, `bin/${command}`])) }),
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([path, entry]) => [path, { types: `./${entry}.d.ts`, default: `./${entry}.js` }]),
      ),
      './package.json': './package.json',
    },
  };
}

/** The commit that is being built: as given by the image build, or of this checkout; empty if there is neither. */
function commit(): string {
  if (process.env.REVISION) {
    return process.env.REVISION;
  }
  try {
    return execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

async function buildPackage(
  built: Package,
  folder: string,
  release: ReleaseFacts,
  plugins: readonly Plugin[] = [],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await bundle(built, folder, release.version, plugins);
  // The plugin indents it, which is two fifths of its size.
  const bill = join(folder, 'sbom.cdx.json');
  writeFileSync(bill, JSON.stringify(JSON.parse(readFileSync(bill, 'utf8'))));
  for (const path of built.copies) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  for (const [path, text] of release.edits) {
    if (built.copies.some((copied) => path.startsWith(`${copied}/`))) {
      writeFileSync(join(folder, path), text);
    }
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(
    join(folder, 'README.md'),
    release.edits.get(built.readme) ?? readFileSync(join(root, built.readme), 'utf8'),
  );
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifestOf(built, release), null, 2)}\n`);
  writeFileSync(join(folder, 'commit'), commit());
}

/** Builds the npm packages, each in a folder of its name in `into`, which is emptied first. */
export async function buildPackages(into: string, release: ReleaseFacts = checkout): Promise<void> {
  const target = resolve(into);
  rmSync(target, { recursive: true, force: true });
  await withDeclarations(async (declarations) => {
    for (const built of packages) {
      const folder = join(target, built.name);
      await buildPackage(built, folder, release);
      await declare(built, folder, declarations);
    }
  });
}

/**
 * What the packages export: for each entry point one text, its declarations without comments, by the name of a file in
 * docs/api.
 *
 * @param declarations a folder that has the declaration file of each module.
 */
export async function apiReports(declarations: string): Promise<Map<string, string>> {
  const reports = new Map<string, string>();
  for (const built of packages) {
    for (const entry of Object.values(built.exports)) {
      const build = await rolldown(declarationOptions(built, [entry], declarations));
      const { output } = await build.generate({ format: 'es' });
      const [{ code }] = output;
      reports.set(`${built.name}.${entry}.d.ts`, code.replaceAll(/ *\/\*\*[\s\S]*?\*\/\n?/g, ''));
    }
  }
  return reports;
}

/** Builds what the image has into the folder `into`, which is emptied first: the program without the sandbox. */
export async function buildImage(into: string, release: ReleaseFacts = checkout): Promise<void> {
  const [program] = packages as [Package, ...Package[]];
  rmSync(into, { recursive: true, force: true });
  const built = { ...program, entries: { main: program.entries.main as string }, exports: {} };
  await buildPackage(built, resolve(into), release, [withoutSandbox]);
}
