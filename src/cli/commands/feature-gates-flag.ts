import { type FeatureGates, knownFeatureGates, parseFeatureGates } from '../../webhook/index.ts';
import { type Flag, FlagError } from '../framework/flags.ts';

export const featureGatesFlag: Flag<FeatureGates> = {
  placeholder: 'GATE=BOOL,…',
  summary: `feature gates, as for Cluster API; known: ${Object.keys(knownFeatureGates).join(', ')}`,
  env: 'EXTENSIONCONFIG_FEATURE_GATES',
  default: knownFeatureGates,
  defaultText: Object.entries(knownFeatureGates)
    .map(([name, enabled]) => `${name}=${enabled}`)
    .join(','),
  parse: (text) => {
    const parsed = parseFeatureGates(text);
    if ('problem' in parsed) {
      throw new FlagError(parsed.problem);
    }
    return parsed.gates;
  },
};
