import { expect, it } from 'vitest';
import { leadsTo } from './links';

const services = [{ id: '0193', nameKey: 'shop' }];
const things = [{ canonical_name: 'Postgres main' }];

it('leads to the service of the name, else to what leans on the thing', () => {
  expect(leadsTo(' Shop ', services, things)).toMatchObject({ page: 'service', where: { id: '0193' } });
  expect(leadsTo('postgres main', services, things)).toMatchObject({
    page: 'services',
    filter: 'dep:"Postgres main"',
  });
});

it('leads nowhere where nothing is called that', () => {
  expect(leadsTo('the cache', services, things)).toBeNull();
  expect(leadsTo('', services, things)).toBeNull();
});
