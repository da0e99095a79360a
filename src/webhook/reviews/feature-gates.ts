import { runtimeSdkFeatureGate } from '../../extensionconfig/index.ts';

/** Whether Cluster API asks extensions to update Machines in place, which matters to `serve --impact`. */
export const inPlaceFeatureGate = 'InPlaceUpdates';

/** The feature gates that this program knows, with Cluster API's defaults. */
export const knownFeatureGates: Readonly<Record<string, boolean>> = {
  [runtimeSdkFeatureGate]: false,
  [inPlaceFeatureGate]: false,
};

export type FeatureGates = Readonly<Record<string, boolean>>;

type ParsedFeatureGates = { gates: FeatureGates } | { problem: string };

// The spellings that Go's strconv.ParseBool accepts, and therefore Kubernetes.
const truths: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falsehoods: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/**
 * Parses feature gates in Kubernetes' syntax (`k8s.io/component-base/featuregate`): `RuntimeSDK=true,Other=false`.
 * Gates that are not named keep their defaults; if a gate is named twice, the last setting counts. `problem` says what
 * is wrong and which gates are known.
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
