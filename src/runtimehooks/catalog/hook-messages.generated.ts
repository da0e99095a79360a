// Generated from the schemas of the hooks by `npm run generate`. Do not edit.
import type * as messages from '../message-types/index.ts';

/** The types of the messages, by hook. */
export interface HookMessages {
  Discovery: { request: messages.DiscoveryRequest; response: messages.DiscoveryResponse };
  BeforeClusterCreate: { request: messages.BeforeClusterCreateRequest; response: messages.BeforeClusterCreateResponse };
  AfterControlPlaneInitialized: { request: messages.AfterControlPlaneInitializedRequest; response: messages.AfterControlPlaneInitializedResponse };
  BeforeClusterUpgrade: { request: messages.BeforeClusterUpgradeRequest; response: messages.BeforeClusterUpgradeResponse };
  BeforeControlPlaneUpgrade: { request: messages.BeforeControlPlaneUpgradeRequest; response: messages.BeforeControlPlaneUpgradeResponse };
  AfterControlPlaneUpgrade: { request: messages.AfterControlPlaneUpgradeRequest; response: messages.AfterControlPlaneUpgradeResponse };
  BeforeWorkersUpgrade: { request: messages.BeforeWorkersUpgradeRequest; response: messages.BeforeWorkersUpgradeResponse };
  AfterWorkersUpgrade: { request: messages.AfterWorkersUpgradeRequest; response: messages.AfterWorkersUpgradeResponse };
  AfterClusterUpgrade: { request: messages.AfterClusterUpgradeRequest; response: messages.AfterClusterUpgradeResponse };
  BeforeClusterDelete: { request: messages.BeforeClusterDeleteRequest; response: messages.BeforeClusterDeleteResponse };
  GeneratePatches: { request: messages.GeneratePatchesRequest; response: messages.GeneratePatchesResponse };
  ValidateTopology: { request: messages.ValidateTopologyRequest; response: messages.ValidateTopologyResponse };
  DiscoverVariables: { request: messages.DiscoverVariablesRequest; response: messages.DiscoverVariablesResponse };
  CanUpdateMachine: { request: messages.CanUpdateMachineRequest; response: messages.CanUpdateMachineResponse };
  CanUpdateMachineSet: { request: messages.CanUpdateMachineSetRequest; response: messages.CanUpdateMachineSetResponse };
  UpdateMachine: { request: messages.UpdateMachineRequest; response: messages.UpdateMachineResponse };
  GenerateUpgradePlan: { request: messages.GenerateUpgradePlanRequest; response: messages.GenerateUpgradePlanResponse };
}
