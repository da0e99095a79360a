import { runtimeSdkFeatureGate } from '../../extensionconfig/index.ts';

/** Whether Cluster API asks extensions to update Machines in place, which matters to `serve --impact`. */
export const inPlaceFeatureGate = 'InPlaceUpdates';

export const knownFeatureGates: Readonly<Record<string, boolean>> = {
  [runtimeSdkFeatureGate]: false,
  [inPlaceFeatureGate]: false,
};

export type FeatureGates = Readonly<Record<string, boolean>>;

type ParsedFeatureGates = { gates: FeatureGates } | { problem: string };

// The spellings that Go's strconv.ParseBool accepts, and therefore Kubernetes.
const truths: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falsehoods: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Kubernetes' syntax (`k8s.io/component-base/featuregate`): `RuntimeSDK=true,Other=false`. The last setting of a gate counts. */
export function parseFeatureGates(text: string, known: FeatureGates = knownFeatureGates): ParsedFeatureGates {
  const gates: Record<string, boolean> = { ...known };
  for (const setting of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', ...values] = setting.split('=').map((part) => part.trim());
    if (!Object.hasOwn(known, name)) {
      return { problem: `unknown feature gate ${JSON.stringify(name)}; known: ${Object.keys(known).join(', ')}` };
    }
    const value = values.join('=');
    if (!truths.includes(value) && !falsehoods.includes(value)) {
      return { problem: `feature gate ${name} needs a value: ${name}=true or ${name}=false` };
    }
    gates[name] = truths.includes(value);
  }
  return { gates };
}
