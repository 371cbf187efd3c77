//! The services of the company.

use super::{Need, On, Service, Wire};

/// Every service.
pub const SERVICES: &[Service] = &[
    Service {
        slug: "gateway",
        name: "Gateway",
        team: "Platform",
        purpose: "The door to everything",
        impact: "The whole shop is closed",
        wire: Wire::Proactive,
        needs: &[
            vital("storefront", On::Service("storefront")),
            need("accounts", On::Service("accounts")),
            need("invoices", On::Service("invoices")),
        ],
    },
    Service {
        slug: "storefront",
        name: "Storefront",
        team: "Shop",
        purpose: "The pages of the shop",
        impact: "Customers see an error page",
        wire: Wire::Proactive,
        needs: &[
            vital("catalog", On::Service("catalog")),
            need("checkout", On::Service("checkout")),
            need("account-service", On::Service("accounts")),
            need("session-cache", On::Thing("redis")),
        ],
    },
    Service {
        slug: "checkout",
        name: "Checkout",
        team: "Shop",
        purpose: "From the cart to the order",
        impact: "Nobody can order",
        wire: Wire::Proactive,
        needs: &[
            vital("orders", On::Service("orders")),
            vital("payments", On::Service("payments")),
            need("accounts", On::Service("accounts")),
        ],
    },
    Service {
        slug: "catalog",
        name: "Catalog",
        team: "Shop",
        purpose: "Products and their prices",
        impact: "The shop shows no products",
        wire: Wire::Spring,
        needs: &[
            vital("db", On::Thing("postgres")),
            need("redis", On::Thing("redis")),
            need("search", On::Service("search")),
            need("s3-media", On::Thing("storage")),
        ],
    },
    Service {
        slug: "search",
        name: "Search",
        team: "Shop",
        purpose: "Finds products",
        impact: "The search box finds nothing",
        wire: Wire::Proactive,
        needs: &[
            vital("opensearch", On::Thing("opensearch")),
            need("event-bus", On::Thing("kafka")),
        ],
    },
    Service {
        slug: "orders",
        name: "Orders",
        team: "Shop",
        purpose: "Orders and their history",
        impact: "Nobody can order",
        wire: Wire::Spring,
        needs: &[
            vital("orders-db", On::Thing("postgres")),
            need("kafka", On::Thing("kafka")),
            need("stock", On::Service("stock")),
        ],
    },
    Service {
        slug: "payments",
        name: "Payments",
        team: "Pay",
        purpose: "Takes the money",
        impact: "Nobody can pay",
        wire: Wire::AspNet,
        needs: &[
            vital("PaymentsDb", On::Thing("postgres")),
            vital("cardgate", On::Thing("cardgate")),
            need("LedgerApi", On::Service("ledger")),
            need("Fraud", On::Service("fraud")),
        ],
    },
    Service {
        slug: "ledger",
        name: "Ledger",
        team: "Pay",
        purpose: "Books every cent",
        impact: "Payments are not booked",
        wire: Wire::Proactive,
        needs: &[
            vital("postgres-main", On::Thing("postgres")),
            need("event-bus", On::Thing("kafka")),
        ],
    },
    Service {
        slug: "payouts",
        name: "Payouts",
        team: "Pay",
        purpose: "Pays the merchants",
        impact: "Merchants are paid late",
        wire: Wire::Proactive,
        needs: &[vital("Harbour Bank", On::Thing("bank")), need("ledger", On::Service("ledger"))],
    },
    Service {
        slug: "invoices",
        name: "Invoices",
        team: "Pay",
        purpose: "Invoices as PDF",
        impact: "Invoices are late",
        wire: Wire::AspNet,
        needs: &[
            need("LedgerApi", On::Service("ledger")),
            need("BlobStorage", On::Thing("storage")),
            need("Notifications", On::Service("notifications")),
        ],
    },
    Service {
        slug: "fraud",
        name: "Fraud",
        team: "Pay",
        purpose: "Looks for stolen cards",
        impact: "Payments are checked by hand",
        wire: Wire::Status,
        needs: &[],
    },
    Service {
        slug: "accounts",
        name: "Accounts",
        team: "Platform",
        purpose: "Customers and how they sign in",
        impact: "Nobody can sign in",
        wire: Wire::Proactive,
        needs: &[
            vital("users-db", On::Thing("postgres")),
            need("session-cache", On::Thing("redis")),
            need("notifications", On::Service("notifications")),
        ],
    },
    Service {
        slug: "notifications",
        name: "Notifications",
        team: "Platform",
        purpose: "Mail and text messages to customers",
        impact: "Customers hear nothing",
        wire: Wire::Proactive,
        needs: &[
            need("smtp-relay", On::Thing("smtp")),
            need("TextLine", On::Thing("textline")),
            need("event-bus", On::Thing("kafka")),
        ],
    },
    Service {
        slug: "stock",
        name: "Stock",
        team: "Platform",
        purpose: "What is left in the warehouse",
        impact: "Things are sold that are not there",
        wire: Wire::Proactive,
        needs: &[
            vital("postgres-main", On::Thing("postgres")),
            need("warehouse-erp", On::Thing("warehouse")),
        ],
    },
];

const fn vital(reported: &'static str, on: On) -> Need {
    Need { reported, on, is_vital: true }
}

const fn need(reported: &'static str, on: On) -> Need {
    Need { reported, on, is_vital: false }
}
