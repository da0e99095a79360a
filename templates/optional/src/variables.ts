import { defineVariables } from 'cluster-api-extension/topology';

/** The variables of the extension: DiscoverVariables tells ClusterClasses of them. */
export const variables = defineVariables({
  tier: {
    schema: {
      type: 'string',
      description: 'Value of the label example.com/tier of objects created from templates.',
      maxLength: 63,
    },
  },
});
