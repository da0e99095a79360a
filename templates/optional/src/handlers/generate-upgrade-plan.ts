import { handler, planUpgrade } from 'cluster-api-extension';

/** {{summary}} */
export const generateUpgradePlan = handler('GenerateUpgradePlan', {
  name: 'generate-upgrade-plan',
  handle: async (request, { answer }) => {
    // The versions that you have tested, such as ['v1.33.4', 'v1.34.1'], are the second argument of planUpgrade.
    return answer.done(planUpgrade(request));
  },
});
