/** One of the npm packages. */
export interface Package {
  name: string;
  description: string;
  keywords: readonly string[];
  /** The files that it starts from, by their names in the package, without an ending. */
  entries: Readonly<Record<string, string>>;
  /** Entry points that other programs import, by their path in `exports`; each has a declaration file. */
  exports: Readonly<Record<string, string>>;
  /** Commands, by name; the files are in bin/. */
  bin: readonly string[];
  readme: string;
  /** Files and folders of the checkout that it contains as they are. */
  copies: readonly string[];
}

/** The npm packages that are built from this checkout. */
export const packages: readonly Package[] = [
  {
    name: 'extensionconfig-webhook',
    description:
      "Admission service for Cluster API's ExtensionConfig objects: defaults, rejections and warnings over HTTPS, and the same rules as a linter",
    keywords: ['kubernetes', 'cluster-api', 'admission-webhook', 'extensionconfig', 'linter', 'kubectl-plugin'],
    entries: {
      main: 'src/main.ts',
      rules: 'src/exports/rules.ts',
      conversion: 'src/exports/conversion.ts',
      plan: 'src/exports/plan.ts',
    },
    exports: { './rules': 'rules', './conversion': 'conversion', './plan': 'plan' },
    bin: ['extensionconfig-webhook', 'kubectl-extensionconfig', 'kubectl_complete-extensionconfig'],
    readme: 'README.md',
    copies: ['bin', 'manifests', 'templates'],
  },
  {
    name: 'cluster-api-extension',
    description:
      'Runtime Extensions for Cluster API in TypeScript: typed handlers behind an HTTPS server, tests, and a client',
    keywords: ['kubernetes', 'cluster-api', 'runtime-sdk', 'runtime-extension'],
    entries: {
      index: 'src/exports/extension.ts',
      topology: 'src/exports/extension-topology.ts',
      testing: 'src/exports/extension-testing.ts',
      hooks: 'src/exports/hooks.ts',
      client: 'src/exports/client.ts',
    },
    exports: {
      '.': 'index',
      './topology': 'topology',
      './testing': 'testing',
      './hooks': 'hooks',
      './client': 'client',
    },
    bin: [],
    readme: 'tools/build/sdk-readme.md',
    copies: [],
  },
];
