import { expect, it } from 'vitest';
import { called, calledText, compared } from './names';

it('tells a thing by the name that everybody knows, and by the one that is reported', () => {
  expect(calledText(called('PostgreSQL main', 'orders-db'))).toBe('PostgreSQL main, as orders-db');
  expect(calledText(called('orders-db', 'orders-db'))).toBe('orders-db');
  expect(called('Orders', 'orders')).toEqual({ name: 'Orders', as: 'orders' });
});

it('compares names as the server does', () => {
  expect(compared('  Orders DB ')).toBe('orders db');
});
