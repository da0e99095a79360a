import { existsSync, statSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { isJsonObject } from '../../../kubernetes/index.ts';
import { onlyValue } from '../../../kubernetes/manifests/index.ts';
import { createRuleSet, type RuleSet, type RuleSetOptions, readLevels } from '../../../policy/index.ts';
import { maxTimeoutSeconds } from '../../../runtimehooks/index.ts';
import { type Call, type Flag, FlagError, integerFlag } from '../../framework/flags.ts';
import { UsageError } from '../../framework/program.ts';
import { readWith } from '../catalog-flags.ts';
import { policyFlags, ruleSetOptionsOf } from '../policy-flags.ts';

/** Name of the configuration file, which is searched for from the folder of a manifest upwards. */
export const lintConfigName = '.extensionconfig-lint.yaml';

/** Longest configuration, in characters. */
const maxLength = 64 * 1024;

/** Fields of the file, and the flag that each corresponds to. `rules` has the content of --rules-config. */
const flagOf = {
  profile: 'profile',
  enforcement: 'enforcement',
  clusterApiVersion: 'cluster-api-version',
} as const;

/** The field that no flag corresponds to. */
const timeoutField = 'maxHandlerTimeoutSeconds';
const timeoutSeconds = integerFlag('SECONDS', 1, maxTimeoutSeconds, 'maximum timeoutSeconds of a handler');

const fieldNames = [...Object.keys(flagOf), timeoutField, 'rules', 'ignore'].join(', ');

interface LintConfig {
  flags: Partial<Record<keyof typeof policyFlags, unknown>>;
  levels: RuleSetOptions['levels'];
  maxHandlerTimeoutSeconds?: number | undefined;
  /** Patterns of files that are left out, relative to the folder of this file. */
  ignore: readonly string[];
}

function parseField<T>(field: string, value: unknown, flag: Flag<T>): T {
  try {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new FlagError('it must be a string or a number');
    }
    // As a number, 1.10 is 1.1, and 1.20 is 1.2: another release.
    if (field === 'clusterApiVersion' && typeof value === 'number' && /^\d+(\.\d)?$/.test(String(value))) {
      throw new FlagError('a number does not keep the last zero of 1.10: write the release in quotes, such as "1.10"');
    }
    return flag.parse(String(value));
  } catch (error) {
    if (error instanceof FlagError) {
      throw new FlagError(`${field}: ${JSON.stringify(value)?.slice(0, 100)} is not allowed: ${error.message}`);
    }
    throw error;
  }
}

/** @throws {UsageError} with a line for each mistake. */
function parseLintConfig(text: string): LintConfig {
  const content = onlyValue(text, maxLength) ?? {};
  if (!isJsonObject(content)) {
    throw new UsageError(`must be a map with any of ${fieldNames}`);
  }
  const config: LintConfig = { flags: {}, levels: undefined, ignore: [] };
  const mistakes: string[] = [];
  for (const [field, value] of Object.entries(content)) {
    try {
      if (field === 'rules') {
        config.levels = readLevels(value);
      } else if (field === 'ignore') {
        if (!Array.isArray(value) || !value.every((pattern) => typeof pattern === 'string')) {
          throw new FlagError('ignore: must be a list of patterns, such as "charts/**"');
        }
        config.ignore = value;
      } else if (Object.hasOwn(flagOf, field)) {
        const known = field as keyof typeof flagOf;
        config.flags[flagOf[known]] = parseField<unknown>(known, value, policyFlags[flagOf[known]]);
      } else if (field === timeoutField) {
        config.maxHandlerTimeoutSeconds = parseField(field, value, timeoutSeconds);
      } else {
        mistakes.push(`${field.slice(0, 100)}: unknown field; it must be one of ${fieldNames}`);
      }
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof FlagError)) {
        throw error;
      }
      mistakes.push(error.message);
    }
  }
  if (mistakes.length > 0) {
    throw new UsageError(mistakes.join('\n'));
  }
  return config;
}

/** What is given on the command line or in the environment overrides the file. */
type PolicyCall = Pick<Call<typeof policyFlags>, 'flags'> & { isGiven(flag: keyof typeof policyFlags): boolean };

/** For the manifests below a folder. */
interface LintOptions {
  rules: RuleSet;
  isIgnored(file: string): boolean;
}

function configuredOptions({ flags, isGiven }: PolicyCall, file: string): LintOptions {
  const config = readWith('lint', file, parseLintConfig);
  const fromFile = Object.entries(config.flags).filter(([flag]) => !isGiven(flag as keyof typeof policyFlags));
  const { levels, maxHandlerTimeoutSeconds } = config;
  const rules = createRuleSet({
    ...ruleSetOptionsOf({ ...flags, ...Object.fromEntries(fromFile) }),
    maxHandlerTimeoutSeconds,
    ...(levels !== undefined && !isGiven('rules-config') && { levels }),
  });
  const pathOf = (manifest: string) => relative(dirname(file), resolve(manifest));
  return { rules, isIgnored: (one) => config.ignore.some((pattern) => matchesGlob(pathOf(one), pattern)) };
}

/**
 * The rules for a manifest: flags, completed by the nearest file up to the root of its git repository. Undefined for one that
 * the file leaves out.
 */
export function createRulesOf(call: PolicyCall): (file: string) => RuleSet | undefined {
  const plain = { rules: createRuleSet(ruleSetOptionsOf(call.flags)), isIgnored: () => false };
  const known = new Map<string, LintOptions>();
  function ofFolder(folder: string): LintOptions {
    const file = join(folder, lintConfigName);
    const parent = dirname(folder);
    const isRoot = parent === folder || existsSync(join(folder, '.git'));
    const inherited = () => (isRoot ? plain : ofFolder(parent));
    const isConfigured = statSync(file, { throwIfNoEntry: false }) !== undefined;
    const options = known.get(folder) ?? (isConfigured ? configuredOptions(call, file) : inherited());
    known.set(folder, options);
    return options;
  }
  return (file) => {
    const isStdin = file === '<stdin>';
    const { rules, isIgnored } = ofFolder(isStdin ? process.cwd() : dirname(resolve(file)));
    return !isStdin && isIgnored(file) ? undefined : rules;
  };
}
