import { runtimeSdkFeatureGate } from '../api/index.ts';

/** The feature gates this program knows, with their defaults, which are Cluster API's. */
export const knownFeatureGates: Readonly<Record<string, boolean>> = { [runtimeSdkFeatureGate]: false };

/** Which gates are on. Contains every known gate. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** The result of reading `--feature-gates`. */
export type ParsedFeatureGates = { gates: FeatureGates } | { problem: string };

// The spellings that Go's strconv.ParseBool takes, and so Kubernetes.
const truths: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falsehoods: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/**
 * Reads feature gates in Kubernetes' syntax (`k8s.io/component-base/featuregate`): `RuntimeSDK=true,Other=false`. Gates
 * that are not named keep their defaults; of a gate named twice the last setting counts. `problem` names what is wrong
 * and what is known.
 */
export function parseFeatureGates(text: string, known: FeatureGates = knownFeatureGates): ParsedFeatureGates {
  const gates: Record<string, boolean> = { ...known };
  for (const part of text.split(',')) {
    const setting = part.trim();
    if (setting === '') {
      continue;
    }
    const equals = setting.indexOf('=');
    const name = (equals === -1 ? setting : setting.slice(0, equals)).trim();
    if (!Object.hasOwn(known, name)) {
      return { problem: `unknown feature gate ${JSON.stringify(name)}; known: ${Object.keys(known).join(', ')}` };
    }
    const value = equals === -1 ? '' : setting.slice(equals + 1).trim();
    if (!truths.includes(value) && !falsehoods.includes(value)) {
      return { problem: `feature gate ${name} needs a value: ${name}=true or ${name}=false` };
    }
    gates[name] = truths.includes(value);
  }
  return { gates };
}
