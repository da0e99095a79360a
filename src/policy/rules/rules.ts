// A new rule is an entry in a file of definitions/.
import { certificateRules } from './definitions/certificates.ts';
import { clientConfigRules } from './definitions/client-config.ts';
import { deletionRules } from './definitions/deletion.ts';
import { handlersRules } from './definitions/handlers.ts';
import { metadataRules } from './definitions/metadata.ts';
import { namespaceSelectorRules } from './definitions/namespace-selector.ts';
import { schemaRules } from './definitions/schema.ts';
import { urlRules } from './definitions/url.ts';
import type { Rule } from './rule.ts';

const byField: readonly Rule[] = [
  ...metadataRules,
  ...schemaRules,
  ...clientConfigRules,
  ...urlRules,
  ...certificateRules,
  ...namespaceSelectorRules,
  ...handlersRules,
  ...deletionRules,
];

/** All rules: Cluster API's own first, then the stricter denials, then the warnings. */
export const rules: readonly Rule[] = [
  ...byField.filter(({ upstream }) => upstream),
  ...byField.filter(({ upstream, severity }) => !upstream && severity === 'deny'),
  ...byField.filter(({ upstream, severity }) => !upstream && severity === 'warn'),
];
